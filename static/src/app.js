// Entry point of every page's script: htmx with its gate, then one module a topic.
import "./htmx.js";
import { startCopy } from "./copy.js";
import { startDialogs } from "./dialog.js";
import { startFleet } from "./fleet.js";
import { startKeys } from "./keys.js";
import { startLive } from "./live.js";
import { startLoading } from "./loading.js";
import { startMenus } from "./menu.js";
import { reveal } from "./page.js";
import { startPreferences } from "./theme.js";
import { startAges } from "./time.js";

function start() {
  reveal(document);
  document.addEventListener("htmx:after:swap", () => reveal(document));
  startPreferences();
  startMenus();
  startCopy();
  startAges();
  startDialogs();
  startLoading();
  startKeys();
  startLive();
  startFleet();
}

if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", start);
else start();
