// All that came, in order, and a cursor in it.

import { byId } from "./dom.js";

const PLAY_MS = 6000; // how long a replay takes
const FRAME_MS = 40;

export class Replay {
  constructor(onMove) {
    this.events = [];
    this.at = null; // null: at the end, wherever that is
    this.cursor = byId("cursor");
    this.onMove = onMove;
    this.cursor.addEventListener("input", () => {
      const at = Number(this.cursor.value); // which `pause` sets anew
      this.pause();
      this.move(at);
    });
    byId("live").addEventListener("click", () => {
      this.pause();
      this.move(null);
    });
    byId("play").addEventListener("click", () => (this.timer ? this.pause() : this.play()));
  }

  clear() {
    this.pause();
    this.events = [];
    this.at = null;
    this.show();
  }

  add(events) {
    this.events.push(...events);
  }

  get isLive() {
    return this.at === null;
  }

  get end() {
    return this.at ?? this.events.length;
  }

  move(at) {
    this.at = at === null || at >= this.events.length ? null : at;
    this.onMove();
    this.show();
  }

  play() {
    let at = this.isLive ? 0 : this.at;
    const step = Math.max(1, Math.round((this.events.length * FRAME_MS) / PLAY_MS));
    this.timer = setInterval(() => {
      at += step;
      if (at >= this.events.length) this.pause();
      this.move(at);
    }, FRAME_MS);
    this.show();
  }

  pause() {
    clearInterval(this.timer);
    this.timer = null;
    this.show();
  }

  show() {
    const size = this.events.length;
    this.cursor.max = size;
    this.cursor.value = this.end;
    this.cursor.disabled = size === 0;
    const count = (n) => n.toLocaleString("en");
    const text = size === 0 ? "nothing yet"
      : this.isLive ? `${count(size)} events` : `${count(this.end)} of ${count(size)} events`;
    byId("position").textContent = text;
    this.cursor.setAttribute("aria-valuetext", text);
    byId("play").disabled = size === 0;
    byId("play").textContent = this.timer ? "Pause" : "Replay";
    byId("live").disabled = size === 0 || this.isLive;
  }
}
