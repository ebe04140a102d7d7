// Menus are <details>: close them on Escape, on a click elsewhere, and give the focus back.

function close(menu) {
  menu.open = false;
}

export function startMenus() {
  document.addEventListener("click", (event) => {
    for (const menu of document.querySelectorAll("details.menu[open]")) {
      if (!menu.contains(event.target)) close(menu);
    }
  });
  document.addEventListener("keydown", (event) => {
    if (event.key !== "Escape") return;
    const menu = document.querySelector("details.menu[open]");
    if (!menu) return;
    const inside = menu.contains(document.activeElement);
    close(menu);
    if (inside) menu.querySelector("summary").focus();
  });
}
