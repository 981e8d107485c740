// Draws what a canvas would into SVG, so that a plot is drawn by one function and downloads as either.

// What plots may use of a canvas.
export type Pen = Pick<
  CanvasRenderingContext2D,
  | 'beginPath' | 'moveTo' | 'lineTo' | 'arc' | 'rect' | 'closePath' | 'stroke' | 'fill' | 'fillRect' | 'strokeRect' | 'fillText'
  | 'measureText' | 'save' | 'restore' | 'clip' | 'translate' | 'rotate' | 'setLineDash' | 'strokeStyle' | 'fillStyle' | 'lineWidth'
  | 'globalAlpha' | 'font' | 'textAlign' | 'textBaseline' | 'lineJoin'
> & { drawImage(image: HTMLCanvasElement, x: number, y: number, width: number, height: number): void };

interface Style {
  strokeStyle: string;
  fillStyle: string;
  lineWidth: number;
  globalAlpha: number;
  font: string;
  textAlign: CanvasTextAlign;
  textBaseline: CanvasTextBaseline;
  dash: number[];
  clip: string;
  transform: string;
}

const round = (value: number): string => String(Math.round(value * 100) / 100);

export function escapeXml(text: string): string {
  const marks: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&apos;' };
  // Characters that XML cannot hold at all are left out.
  return text.replace(/[&<>"']/g, (mark) => marks[mark] ?? '').replace(/[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/gu, '');
}

export class SvgPen {
  lineJoin: CanvasLineJoin = 'round';
  private style: Style = {
    strokeStyle: '#000', fillStyle: '#000', lineWidth: 1, globalAlpha: 1, font: '12px sans-serif', textAlign: 'start',
    textBaseline: 'alphabetic', dash: [], clip: '', transform: '',
  };
  private readonly kept: Style[] = [];
  private readonly parts: string[] = [];
  private path = '';
  private clips = 0;

  constructor(
    private readonly width: number,
    private readonly height: number,
    private readonly measure: (text: string, font: string) => TextMetrics,
  ) {}

  get strokeStyle(): string { return this.style.strokeStyle; }
  set strokeStyle(value: string) { this.style.strokeStyle = value; }
  get fillStyle(): string { return this.style.fillStyle; }
  set fillStyle(value: string) { this.style.fillStyle = value; }
  get lineWidth(): number { return this.style.lineWidth; }
  set lineWidth(value: number) { this.style.lineWidth = value; }
  get globalAlpha(): number { return this.style.globalAlpha; }
  set globalAlpha(value: number) { this.style.globalAlpha = value; }
  get font(): string { return this.style.font; }
  set font(value: string) { this.style.font = value; }
  get textAlign(): CanvasTextAlign { return this.style.textAlign; }
  set textAlign(value: CanvasTextAlign) { this.style.textAlign = value; }
  get textBaseline(): CanvasTextBaseline { return this.style.textBaseline; }
  set textBaseline(value: CanvasTextBaseline) { this.style.textBaseline = value; }

  save(): void { this.kept.push({ ...this.style, dash: [...this.style.dash] }); }
  restore(): void { this.style = this.kept.pop() ?? this.style; }
  setLineDash(dash: number[]): void { this.style.dash = dash; }
  translate(x: number, y: number): void { this.style.transform += `translate(${round(x)} ${round(y)})`; }
  rotate(angle: number): void { this.style.transform += `rotate(${round((angle * 180) / Math.PI)})`; }
  beginPath(): void { this.path = ''; }
  moveTo(x: number, y: number): void { this.path += `M${round(x)} ${round(y)}`; }
  lineTo(x: number, y: number): void { this.path += `L${round(x)} ${round(y)}`; }
  closePath(): void { this.path += 'Z'; }
  rect(x: number, y: number, w: number, h: number): void { this.path += `M${round(x)} ${round(y)}h${round(w)}v${round(h)}h${round(-w)}Z`; }

  // Whole circles only: plots draw no other arcs.
  arc(x: number, y: number, radius: number): void {
    const r = round(radius);
    this.path += `M${round(x + radius)} ${round(y)}A${r} ${r} 0 1 1 ${round(x - radius)} ${round(y)}A${r} ${r} 0 1 1 ${round(x + radius)} ${round(y)}`;
  }

  stroke(): void {
    const { strokeStyle, lineWidth, dash } = this.style;
    const dashes = dash.length > 0 ? ` stroke-dasharray="${dash.join(' ')}"` : '';
    this.add(`<path d="${this.path}" fill="none" stroke="${escapeXml(strokeStyle)}" stroke-width="${round(lineWidth)}"${dashes}`);
  }
  fill(): void { this.add(`<path d="${this.path}" fill="${escapeXml(this.style.fillStyle)}"`); }

  fillRect(x: number, y: number, w: number, h: number): void {
    this.beginPath();
    this.rect(x, y, w, h);
    this.fill();
  }
  strokeRect(x: number, y: number, w: number, h: number): void {
    this.beginPath();
    this.rect(x, y, w, h);
    this.stroke();
  }

  fillText(text: string, x: number, y: number): void {
    const { textAlign, textBaseline, font, fillStyle } = this.style;
    const anchor = textAlign === 'center' ? 'middle' : textAlign === 'right' || textAlign === 'end' ? 'end' : 'start';
    const shift = textBaseline === 'middle' ? '0.35em' : textBaseline === 'top' ? '0.8em' : '0';
    const [, weight = '', size = '12px', family = 'sans-serif'] = /^(?:(bold|\d{3}) )?(\S+) (.*)$/.exec(font) ?? [];
    const bold = weight === '' ? '' : ` font-weight="${weight}"`;
    this.add(
      `<text x="${round(x)}" y="${round(y)}" dy="${shift}" text-anchor="${anchor}" font-size="${size}"${bold} font-family="${escapeXml(family)}" fill="${escapeXml(fillStyle)}"`,
      escapeXml(text),
    );
  }

  drawImage(image: HTMLCanvasElement, x: number, y: number, width: number, height: number): void {
    this.add(`<image href="${image.toDataURL()}" x="${round(x)}" y="${round(y)}" width="${round(width)}" height="${round(height)}" preserveAspectRatio="none"`);
  }

  measureText(text: string): TextMetrics { return this.measure(text, this.style.font); }

  clip(): void {
    this.clips += 1;
    this.parts.push(`<clipPath id="c${this.clips}"><path d="${this.path}"/></clipPath>`);
    this.style.clip = `c${this.clips}`;
  }

  private add(element: string, content?: string): void {
    const { globalAlpha, clip, transform } = this.style;
    const opacity = globalAlpha < 1 ? ` opacity="${round(globalAlpha)}"` : '';
    const moved = transform === '' ? '' : ` transform="${transform}"`;
    const whole = `${element}${opacity}${moved}${content === undefined ? '/>' : `>${content}</text>`}`;
    this.parts.push(clip === '' ? whole : `<g clip-path="url(#${clip})">${whole}</g>`);
  }

  text(background: string): string {
    const size = `width="${this.width}" height="${this.height}" viewBox="0 0 ${this.width} ${this.height}"`;
    return `<svg xmlns="http://www.w3.org/2000/svg" ${size}><rect width="100%" height="100%" fill="${escapeXml(background)}"/>${this.parts.join('\n')}</svg>\n`;
  }
}
