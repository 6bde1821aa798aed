// Elements in short. Text is always set as text, never as HTML.

export function element(tag, fields = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(fields)) {
    if (value === null || value === undefined || value === false) continue;
    if (name === "class") made.className = value;
    else if (name === "text") made.textContent = value;
    else if (name.startsWith("on")) made.addEventListener(name.slice(2), value);
    else made.setAttribute(name, value === true ? "" : value);
  }
  made.append(...children.filter((child) => child !== null));
  return made;
}

export const byId = (id) => document.getElementById(id);

export const asJson = (value) =>
  typeof value === "string" ? value : JSON.stringify(value, null, 2);
