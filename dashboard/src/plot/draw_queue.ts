// Plots are drawn between the browser's frames: as many as fit into a part of one, the others in the next, so that a dozen of them
// hold up neither the pointer nor each other. What is asked for again before its turn is drawn once, as it was asked for last.
const budgetMs = 10;

const waiting = new Map<object, () => void>();
let frame = 0;

export function drawSoon(who: object, draw: () => void): void {
  waiting.set(who, draw);
  if (frame === 0) frame = requestAnimationFrame(drawSome);
}

export function drawNever(who: object): void {
  waiting.delete(who);
}

function drawSome(): void {
  frame = 0;
  const end = performance.now() + budgetMs;
  for (const [who, draw] of waiting) {
    if (performance.now() > end) break;
    waiting.delete(who);
    draw();
  }
  if (waiting.size > 0 && frame === 0) frame = requestAnimationFrame(drawSome);
}
