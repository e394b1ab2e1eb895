import { on } from "./drawing.js";
// A scene that is turned by dragging it, or by the arrows where it has the focus.
export function turning(svg, yaw, pitch, draw) {
  const now = { yaw, pitch };
  let from = null;
  const turn = (u, v) => {
    now.yaw = u;
    now.pitch = Math.min(1.5, Math.max(-1.5, v));
    draw();
  };
  svg.setAttribute("tabindex", "0");
  on(svg, "pointerdown", (event) => { from = [event.clientX, event.clientY, now.yaw, now.pitch]; svg.setPointerCapture(event.pointerId); });
  on(svg, "pointermove", (event) => { if (from) turn(from[2] + (event.clientX - from[0]) / 120, from[3] + (event.clientY - from[1]) / 160); });
  for (const name of ["pointerup", "pointercancel"]) on(svg, name, () => { from = null; });
  on(svg, "keydown", (event) => {
    const ways = { ArrowLeft: [-0.1, 0], ArrowRight: [0.1, 0], ArrowUp: [0, -0.1], ArrowDown: [0, 0.1] }, way = ways[event.key];
    if (!way) return;
    turn(now.yaw + way[0], now.pitch + way[1]);
    event.preventDefault();
    event.stopPropagation();
  });
  return now;
}

// A direction as the eye sees it: across, up, and towards the eye.
export function seen([x, y, z], { yaw, pitch }) {
  const a = x * Math.cos(yaw) - y * Math.sin(yaw), b = x * Math.sin(yaw) + y * Math.cos(yaw);
  return [a, b * Math.sin(pitch) + z * Math.cos(pitch), z * Math.sin(pitch) - b * Math.cos(pitch)];
}
