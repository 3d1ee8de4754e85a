import { useRef, useState } from 'preact/hooks';
import { colourOfKind, themeColour, wordsOfKind } from '../colours';
import { clock, ranges, seconds } from '../format';
import { kinds, waitOf } from '../snapshot';
import { meetingsOf, type Meeting } from '../waiting';
import { Canvas, Note } from '../widgets';
import type { ViewProps } from './view';

const mostOfMatrix = 512;
const mostSentences = 100;

function colours(): Uint32Array {
  const all = new Uint32Array(256);
  kinds.forEach((kind, i) => {
    const value = parseInt(colourOfKind[kind].slice(1), 16);
    all[i] = (0xff000000 | ((value & 0xff) << 16) | (value & 0xff00) | (value >> 16)) >>> 0;
  });
  return all; // 255, of an engine that was not there, is transparent
}

function picture(width: number, height: number, paint: (pixels: Uint32Array) => void): HTMLCanvasElement {
  const canvas = document.createElement('canvas');
  canvas.width = width;
  canvas.height = height;
  const context = canvas.getContext('2d')!;
  const image = context.createImageData(width, height);
  paint(new Uint32Array(image.data.buffer));
  context.putImageData(image, 0, 0);
  return canvas;
}

function sentence(meeting: Meeting): string {
  const ranks = ranges(meeting.waiting.map(each => each.rank ?? each.id));
  const ids = ranges(meeting.waiting.map(each => each.id));
  const who = `${ranks}${ids === ranks ? '' : ` (engine ${ids})`}`;
  const missing = ranges(meeting.missing.map(each => each.rank ?? each.id));
  const size = meeting.peers.length > 0 ? undefined : waitOf(meeting.waiting[0])?.size;
  const late = missing ? `; not there: ${missing}`
    : size && size > meeting.waiting.length ? `; ${meeting.waiting.length} of ${size} ranks are there` : '';
  return `${meeting.waiting.length === 1 ? `Rank ${who} waits` : `Ranks ${who} wait`} ` +
    `in ${meeting.call} for ${seconds(meeting.longest)}${late}`;
}

export function Waits({ snapshot, history, theme }: ViewProps) {
  const [hovered, setHovered] = useState('');
  const size = useRef({ width: 1, rowHeight: 1, matrix: 1 });
  const { rows, columns } = history;
  const shownColumns = Math.max(60, columns.length);
  const byId = new Map(snapshot.engines.map(each => [each.id, each]));
  const meetings = meetingsOf(snapshot.engines);
  const nameOf = (id: number) => `rank ${byId.get(id)?.rank ?? id}`;

  const drawTime = (context: CanvasRenderingContext2D, width: number, height: number) => {
    const body = height - 20;
    size.current.width = width;
    size.current.rowHeight = body / Math.max(1, rows.length);
    if (rows.length === 0 || columns.length === 0) return;
    const palette = colours();
    const image = picture(columns.length, rows.length, pixels => {
      columns.forEach((column, x) =>
        column.states.forEach((state, y) => { pixels[y * columns.length + x] = palette[state]; }));
    });
    context.imageSmoothingEnabled = false;
    const share = columns.length / shownColumns;
    context.drawImage(image, width * (1 - share), 0, width * share, body);
    context.fillStyle = themeColour('--text');
    context.font = '12px system-ui';
    context.fillText(clock(columns[0].time), Math.min(width * (1 - share), width - 130), height - 5);
    context.textAlign = 'right';
    context.fillText(clock(columns[columns.length - 1].time), width, height - 5);
    context.textAlign = 'left';
  };
  const hoverTime = (_: PointerEvent, x: number, y: number) => {
    const id = rows[Math.floor(y / size.current.rowHeight)];
    const column = columns[columns.length - shownColumns + Math.floor((x / size.current.width) * shownColumns)];
    if (id === undefined || !column) return setHovered('');
    const kind = kinds[column.states[rows.indexOf(id)]];
    const engine = byId.get(id);
    const wait = engine && column === columns[columns.length - 1] ? waitOf(engine) : undefined;
    setHovered(`${nameOf(id)} at ${clock(column.time)}: ${kind ? wordsOfKind[kind] : 'not there'}` +
      (wait ? ` (${wait.call})` : ''));
  };

  const shown = rows.slice(0, mostOfMatrix);
  const place = new Map(shown.map((id, row) => [id, row]));
  const drawMatrix = (context: CanvasRenderingContext2D, width: number, height: number) => {
    const side = Math.min(width, height);
    size.current.matrix = side;
    const n = shown.length;
    if (n === 0) return;
    context.strokeStyle = themeColour('--line');
    context.strokeRect(0.5, 0.5, side - 1, side - 1);
    const cell = side / n;
    for (const meeting of meetings) {
      context.fillStyle = meeting.peers.length > 0 ? colourOfKind.silent : colourOfKind.waits;
      for (const from of meeting.waiting) {
        for (const to of meeting.missing) {
          const y = place.get(from.id);
          const x = place.get(to.id);
          if (x !== undefined && y !== undefined) {
            context.fillRect(x * cell, y * cell, Math.max(1.5, cell - 0.5), Math.max(1.5, cell - 0.5));
          }
        }
      }
    }
  };
  const hoverMatrix = (_: PointerEvent, x: number, y: number) => {
    const cell = size.current.matrix / Math.max(1, shown.length);
    const from = shown[Math.floor(y / cell)];
    const to = shown[Math.floor(x / cell)];
    if (from === undefined || to === undefined) return setHovered('');
    const found = meetings.find(each => each.waiting.some(engine => engine.id === from) &&
                                        each.missing.some(engine => engine.id === to));
    setHovered(found ? `${nameOf(from)} waits for ${nameOf(to)} in ${found.call}` : `${nameOf(from)}, ${nameOf(to)}`);
  };
  const leave = () => setHovered('');
  const height = Math.min(520, Math.max(120, rows.length * 14 + 20));
  return (
    <>
      <h2>Which rank waits for which</h2>
      {meetings.length === 0 && <Note>No engine waits in a call of MPI or torch.</Note>}
      <ul class="sentences">{meetings.slice(0, mostSentences).map((each, i) => <li key={i}>{sentence(each)}</li>)}</ul>
      {meetings.length > mostSentences && <Note>and {meetings.length - mostSentences} more</Note>}
      <p class="hover" aria-live="polite">{hovered}</p>
      <div class="halves">
        <figure>
          <figcaption>Each rank over time
            {kinds.map(kind => (
              <span key={kind} class="key"><span class="swatch" style={{ background: colourOfKind[kind] }} />{wordsOfKind[kind]}</span>
            ))}
          </figcaption>
          <Canvas label="the states of each rank in the last ten minutes" height={height} now={[snapshot, theme]}
                  draw={drawTime} handlers={{ pointermove: hoverTime, pointerleave: leave }} />
        </figure>
        <figure>
          <figcaption>The rank of a row waits for the rank of a column
            {rows.length > mostOfMatrix && `, the first ${mostOfMatrix} ranks`}
            <span class="key"><span class="swatch" style={{ background: colourOfKind.waits }} />collective call</span>
            <span class="key"><span class="swatch" style={{ background: colourOfKind.silent }} />named peer</span>
          </figcaption>
          <Canvas label="which rank waits for which now" height={360} now={[snapshot, theme]} draw={drawMatrix}
                  handlers={{ pointermove: hoverMatrix, pointerleave: leave }} />
        </figure>
      </div>
    </>
  );
}
