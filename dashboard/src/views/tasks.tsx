import { useRef, useState } from 'preact/hooks';
import { colourOfFailure, colourOfLabel, themeColour } from '../colours';
import { clock, count, seconds } from '../format';
import { labelOf, type History } from '../history';
import type { Snapshot, Task } from '../snapshot';
import { BigTable, Canvas, Note } from '../widgets';
import type { ViewProps } from './view';

interface View {
  span: number; // seconds that are shown
  end?: number; // Unix time at the right; nothing: now
}

const shortest = 0.01;
const longest = 3600;

interface Bar {
  engine: number;
  label: string;
  start: number;
  end: number;
  isOk: boolean;
  isRunning: boolean;
  task?: Task;
}

function barsOf(history: History, snapshot: Snapshot, from: number, to: number): Bar[] {
  const bars: Bar[] = [];
  for (const task of history.tasks) {
    if (task.engine === undefined || !task.started || !task.ended) continue;
    if (task.ended < from || task.started > to) continue;
    bars.push({ engine: task.engine, label: labelOf(task), start: task.started, end: task.ended,
                isOk: task.is_ok, isRunning: false, task });
  }
  for (const engine of snapshot.engines) {
    if (!engine.runs && engine.runs_for === undefined) continue;
    const start = snapshot.time - (engine.measured_ago ?? 0) - (engine.runs_for ?? 0);
    if (start < to && snapshot.time > from) {
      bars.push({ engine: engine.id, label: engine.runs ?? 'runs', start, end: snapshot.time, isOk: true,
                  isRunning: true });
    }
  }
  return bars;
}

export function Tasks({ snapshot, history, theme }: ViewProps) {
  const [view, setView] = useState<View>({ span: 30 });
  const [hovered, setHovered] = useState<Bar>();
  const drag = useRef<{ x: number; end: number }>();
  const bars = useRef<Bar[]>([]);
  const size = useRef({ width: 1, rowHeight: 1 });
  const end = view.end ?? snapshot.time;
  const start = end - view.span;
  const rows = new Map(history.rows.map((id, row) => [id, row]));
  const height = Math.min(640, Math.max(160, rows.size * 18 + 24));

  const draw = (context: CanvasRenderingContext2D, width: number, high: number) => {
    const body = high - 20;
    const rowHeight = body / Math.max(1, rows.size);
    size.current = { width, rowHeight };
    bars.current = barsOf(history, snapshot, start, end);
    const gap = rowHeight > 6 ? 1 : 0;
    for (const bar of bars.current) {
      const row = rows.get(bar.engine);
      if (row === undefined) continue;
      const left = Math.max(0, ((bar.start - start) / view.span) * width);
      const right = Math.min(width, ((bar.end - start) / view.span) * width);
      context.globalAlpha = bar.isRunning ? 0.45 : 1;
      context.fillStyle = colourOfLabel(bar.label);
      context.fillRect(left, row * rowHeight, Math.max(1, right - left - gap), rowHeight - gap);
      if (!bar.isOk) {
        context.fillStyle = colourOfFailure;
        context.fillRect(left, row * rowHeight, Math.max(2, right - left - gap), Math.max(2, rowHeight / 4));
      }
    }
    context.globalAlpha = 1;
    drawAxis(context, start, view.span, width, body);
  };
  const find = (x: number, y: number) => {
    const time = start + (x / size.current.width) * view.span;
    const slack = (2 / size.current.width) * view.span;
    const id = history.rows[Math.floor(y / size.current.rowHeight)];
    return bars.current.find(bar => bar.engine === id && bar.start <= time + slack && bar.end >= time - slack);
  };
  const zoom = (factor: number, x: number) => {
    const span = Math.min(longest, Math.max(shortest, view.span * factor));
    const share = 1 - x / size.current.width; // what is under the pointer stays there
    const next = end - share * view.span + share * span;
    setView({ span, end: view.end === undefined && share < 0.1 ? undefined : next });
  };
  const pan = (share: number) => {
    const next = end + share * view.span;
    setView({ ...view, end: next >= snapshot.time ? undefined : next });
  };
  const handlers = {
    wheel: (event: WheelEvent, x: number) => {
      event.preventDefault();
      if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY)) {
        pan((event.deltaX || event.deltaY) / size.current.width);
      } else {
        zoom(event.deltaY > 0 ? 1.25 : 0.8, x);
      }
    },
    pointerdown: (event: PointerEvent, x: number) => {
      (event.target as Element).setPointerCapture(event.pointerId);
      drag.current = { x, end };
    },
    pointermove: (_: PointerEvent, x: number, y: number) => {
      if (!drag.current) return setHovered(find(x, y));
      const next = drag.current.end - ((x - drag.current.x) / size.current.width) * view.span;
      setView({ ...view, end: next >= snapshot.time ? undefined : next });
    },
    pointerup: () => { drag.current = undefined; },
    pointerleave: () => setHovered(undefined),
    keydown: (event: KeyboardEvent) => {
      const keys: Record<string, () => void> = {
        '+': () => zoom(0.8, size.current.width / 2),
        '-': () => zoom(1.25, size.current.width / 2),
        ArrowLeft: () => pan(-0.1),
        ArrowRight: () => pan(0.1),
        End: () => setView({ span: view.span })
      };
      if (!keys[event.key]) return;
      event.preventDefault();
      keys[event.key]();
    }
  };
  const labels = [...history.labels].sort((a, b) => b[1].count - a[1].count);
  return (
    <>
      <div class="tools">
        {[5, 30, 120, 900].map(span => (
          <button type="button" key={span} aria-pressed={view.span === span}
                  onClick={() => setView({ ...view, span })}>{span < 60 ? `${span} s` : `${span / 60} min`}</button>
        ))}
        <button type="button" aria-pressed={view.end === undefined}
                onClick={() => setView({ span: view.span })}>follow</button>
        <span class="hint">zoom with the wheel or + and -, move by dragging or with the arrow keys, follow with End</span>
      </div>
      {history.tasks.length === 0 && <Note>No request has ended since this page was opened.</Note>}
      <Canvas label={`requests that ${rows.size} engines ran in the last ${seconds(view.span)}`} height={height}
              now={[snapshot, view, theme]} draw={draw} handlers={handlers} />
      <p class="hover" aria-live="polite">
        {hovered ? describe(hovered) : history.lost > 0 &&
          `${count(history.lost)} requests are not shown, because they ended too fast`}
      </p>
      <BigTable label="labels" rows={labels} keyOf={([label]) => label} columns={[
        { name: 'label', value: ([label]) => label, show: ([label]) => (
          <span><span class="swatch" style={{ background: colourOfLabel(label) }} />{label}</span>) },
        { name: 'ended', isNumber: true, value: ([, each]) => each.count, show: ([, each]) => count(each.count) },
        { name: 'failed', isNumber: true, value: ([, each]) => each.failed, show: ([, each]) => count(each.failed) },
        { name: 'mean', isNumber: true, value: ([, each]) => each.seconds / each.count,
          show: ([, each]) => seconds(each.seconds / each.count) },
        { name: 'sum', isNumber: true, value: ([, each]) => each.seconds, show: ([, each]) => seconds(each.seconds) }
      ]} />
    </>
  );
}

function describe(bar: Bar): string {
  const waited = bar.task?.submitted ? `, waited ${seconds(Math.max(0, bar.start - bar.task.submitted))}` : '';
  return `${bar.label} on engine ${bar.engine}: ${bar.isRunning ? 'runs for' : 'ran'} ` +
    `${seconds(bar.end - bar.start)} from ${clock(bar.start)}${waited}${bar.isOk ? '' : ', failed'}`;
}

function drawAxis(context: CanvasRenderingContext2D, start: number, span: number, width: number, y: number): void {
  const steps = [0.001, 0.01, 0.1, 0.5, 1, 2, 5, 10, 30, 60, 120, 300, 900];
  const step = steps.find(each => span / each <= Math.max(2, width / 110)) ?? 1800;
  context.fillStyle = themeColour('--text');
  context.strokeStyle = themeColour('--line');
  context.font = '12px system-ui';
  for (let time = Math.ceil(start / step) * step; time < start + span; time += step) {
    const x = ((time - start) / span) * width;
    context.beginPath();
    context.moveTo(x, 0);
    context.lineTo(x, y + 4);
    context.stroke();
    context.fillText(step >= 1 ? clock(time) : `${(time % 60).toFixed(step >= 0.1 ? 1 : 3)} s`, x + 3, y + 15);
  }
}
