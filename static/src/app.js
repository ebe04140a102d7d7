// Entry point of every page's script: htmx with its gate, then one module a topic.
import "./frame/htmx.js";
import { startChanges } from "./frame/changes.js";
import { startCopy } from "./frame/copy.js";
import { startCounts } from "./frame/counts.js";
import { startDialogs } from "./frame/dialog.js";
import { startFleet } from "./live/fleet.js";
import { startInbox } from "./live/decided.js";
import { startImport } from "./import/import.js";
import { startKeys } from "./frame/keys.js";
import { startLive } from "./live/live.js";
import { startLoading } from "./frame/loading.js";
import { startMenus } from "./frame/menu.js";
import { reveal } from "./frame/page.js";
import { startRefusals } from "./frame/refused.js";
import { startPreferences } from "./frame/theme.js";
import { startTabs } from "./frame/tabs.js";
import { startAges } from "./frame/time.js";

function start() {
  reveal(document);
  document.addEventListener("htmx:after:swap", () => reveal(document));
  startPreferences();
  startMenus();
  startTabs();
  startCopy();
  startChanges();
  startAges();
  startDialogs();
  startRefusals();
  startLoading();
  startKeys();
  startLive();
  startFleet();
  startInbox();
  startCounts();
  startImport();
}

if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", start);
else start();
