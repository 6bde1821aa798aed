// Light, dark, or as the system says.

const THEMES = {
  system: ["◐", "Theme: as the system"],
  light: ["☀", "Theme: light"],
  dark: ["☾", "Theme: dark"],
};

export function themeSwitch(button) {
  const show = (theme) => {
    const [sign, label] = THEMES[theme];
    button.textContent = sign;
    button.setAttribute("aria-label", label);
    button.title = label;
    if (theme === "system") delete document.documentElement.dataset.theme;
    else document.documentElement.dataset.theme = theme;
  };
  let theme = localStorage.getItem("once-theme") ?? "system";
  if (!(theme in THEMES)) theme = "system";
  show(theme);
  button.addEventListener("click", () => {
    const names = Object.keys(THEMES);
    theme = names[(names.indexOf(theme) + 1) % names.length];
    localStorage.setItem("once-theme", theme);
    show(theme);
  });
}
