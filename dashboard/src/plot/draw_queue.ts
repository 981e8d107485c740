// Plots are drawn between the browser's frames: as many as fit into a part of one, the others in the next, so that a dozen of them
// hold up neither the pointer nor each other. What is asked for again before its turn is drawn once, as it was asked for last.
const budgetMs = 10;

const urgent = new Map<object, () => void>(); // what the pointer is in
const waiting = new Map<object, () => void>();
let frame = 0;

export function drawSoon(who: object, draw: () => void, isUrgent: boolean): void {
  (isUrgent ? urgent : waiting).set(who, draw);
  (isUrgent ? waiting : urgent).delete(who);
  if (frame === 0) frame = requestAnimationFrame(drawSome);
}

export function drawNever(who: object): void {
  urgent.delete(who);
  waiting.delete(who);
}

function drawSome(): void {
  frame = 0;
  const end = performance.now() + budgetMs;
  for (const queue of [urgent, waiting]) {
    for (const [who, draw] of queue) {
      if (queue === waiting && performance.now() > end) break;
      queue.delete(who);
      draw();
    }
  }
  if (waiting.size > 0 && frame === 0) frame = requestAnimationFrame(drawSome);
}
