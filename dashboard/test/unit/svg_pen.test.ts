import assert from 'node:assert/strict';
import { test } from 'node:test';
import { makeScale, extentOf } from '../../src/plot/axes.ts';
import { SvgPen } from '../../src/plot/svg_pen.ts';

const pen = (): SvgPen => new SvgPen(100, 50, () => ({ width: 10 }) as TextMetrics);

test('what is drawn is in the SVG, and text is never markup', () => {
  const one = pen();
  one.strokeStyle = '#123456';
  one.setLineDash([2, 3]);
  one.beginPath();
  one.moveTo(0, 0);
  one.lineTo(10, 5.123);
  one.stroke();
  one.fillText('<script>&"\u0000', 1, 2);
  const text = one.text('#fff');
  assert.match(text, /<path d="M0 0L10 5.12" fill="none" stroke="#123456" stroke-width="1" stroke-dasharray="2 3"\/>/);
  assert.match(text, />&lt;script&gt;&amp;&quot;<\/text>/);
  assert.doesNotMatch(text, /<script|\u0000/);
});

test('what was saved is restored: colours, dashes, clips', () => {
  const one = pen();
  one.save();
  one.globalAlpha = 0.5;
  one.beginPath();
  one.rect(0, 0, 5, 5);
  one.clip();
  one.fillRect(0, 0, 1, 1);
  one.restore();
  one.fillRect(2, 2, 1, 1);
  const text = one.text('#fff');
  assert.match(text, /<g clip-path="url\(#c1\)"><path d="M0 0h1v1h-1Z" fill="#000" opacity="0.5"\/><\/g>/);
  assert.match(text, /\n<path d="M2 2h1v1h-1Z" fill="#000"\/>/);
});

test('a scale has a domain even where all values are one, none, or below 0 on a log axis', () => {
  assert.ok(Number.isFinite(makeScale('linear', [3, 3], [0, 100])(3)));
  assert.ok(Number.isFinite(makeScale('linear', [NaN, NaN], [0, 100])(0.5)));
  assert.ok(Number.isFinite(makeScale('log', [-1, 10], [0, 100])(0)));
  assert.deepEqual(extentOf([NaN, 3, Infinity, -1]), [-1, 3]);
  assert.deepEqual(extentOf([0, 1, 2, 3, 100], 0.25), [1, 3]);
});
