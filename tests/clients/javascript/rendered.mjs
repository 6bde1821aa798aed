// A hook of React that is rendered for real, and noted on the screen at each commit.

/** Put a document where React looks for one. */
export function makeDocument(Window) {
  const window = new Window({ url: "http://localhost/" });
  Object.assign(globalThis, { window, document: window.document });
  return window;
}

/** Render `useIt`, and tell `noted` what it gave at each commit. */
export function rendered({ createElement, useEffect, createRoot }, useIt, noted, wrap) {
  const Hooked = () => {
    const it = useIt();
    useEffect(() => noted(it));
    return null;
  };
  const root = createRoot(document.createElement("div"));
  const hooked = createElement(Hooked);
  root.render(wrap ? wrap(hooked) : hooked);
  return root;
}

/** Resolves when `holds`; looks again after each macrotask. */
export async function until(holds) {
  while (!holds()) await settled();
}

/** What is under way in this process has been rendered. */
export function settled() {
  return new Promise((resolve) => setTimeout(resolve, 2));
}
