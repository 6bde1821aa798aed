// Four pages. `npm run dev` serves them; each asks the server that `?url=` names.

export default {
  build: {
    rolldownOptions: { input: ["fetch.html", "use-stream.html", "use-stream-v3.html", "ag-ui.html"] },
  },
};
