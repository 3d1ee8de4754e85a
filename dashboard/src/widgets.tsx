import type { ComponentChildren } from 'preact';
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import uPlot from 'uplot';
import { themeColour } from './colours';
import { clock } from './format';

export function Note(props: { children: ComponentChildren }) {
  return <p class="note">{props.children}</p>;
}

// A share of a whole, also in words.
export function Meter(props: { value: number; most: number; text: string }) {
  const share = props.most > 0 ? Math.min(1, Math.max(0, props.value / props.most)) : 0;
  return (
    <span class="meter">
      <span class="bar" aria-hidden="true">
        <span style={{ width: `${100 * share}%` }} class={share > 0.9 ? 'full' : ''} />
      </span>
      <span>{props.text}</span>
    </span>
  );
}

export interface Column<Row> {
  name: string;
  title?: string;
  isNumber?: boolean;
  value: (row: Row) => number | string | undefined; // to sort by
  show: (row: Row) => ComponentChildren;
}

const rowHeight = 28;
const extraRows = 10;

// A table of which only the rows in view are in the document, so that 1,000 cost what 40 do. A click
// on a head sorts; arrow keys, Home and End move, Enter chooses.
export function BigTable<Row>(props: {
  label: string;
  columns: Column<Row>[];
  rows: Row[];
  keyOf: (row: Row) => string | number;
  chosen?: string | number;
  onChoose?: (row: Row) => void;
}) {
  const { columns, keyOf, chosen, onChoose } = props;
  const [order, setOrder] = useState({ column: 0, isDown: false });
  const [top, setTop] = useState(0);
  const box = useRef<HTMLDivElement>(null);
  const { value } = columns[order.column];
  const sign = order.isDown ? -1 : 1;
  const rows = [...props.rows].sort((a, b) => sign * compare(value(a), value(b)));
  const height = box.current?.clientHeight ?? 600;
  const first = Math.max(0, Math.floor(top / rowHeight) - extraRows);
  const last = Math.min(rows.length, Math.ceil((top + height) / rowHeight) + extraRows);
  const move = (event: KeyboardEvent) => {
    if (!onChoose) return;
    const now = rows.findIndex(row => keyOf(row) === chosen);
    const steps: Record<string, number> = {
      ArrowDown: now + 1,
      ArrowUp: Math.max(0, now - 1),
      Home: 0,
      End: rows.length - 1
    };
    const next = steps[event.key];
    if (next === undefined || !rows[next]) return;
    event.preventDefault();
    onChoose(rows[next]);
    box.current?.scrollTo({ top: next * rowHeight - height / 2 });
  };
  return (
    <div class="table" ref={box} tabIndex={0} onKeyDown={move} role="region" aria-label={props.label}
         onScroll={event => setTop(event.currentTarget.scrollTop)}>
      <table aria-rowcount={rows.length}>
        <thead>
          <tr>
            {columns.map((column, i) => (
              <th key={column.name} class={column.isNumber ? 'number' : ''} title={column.title}
                  aria-sort={order.column !== i ? 'none' : order.isDown ? 'descending' : 'ascending'}>
                <button type="button" onClick={() =>
                  setOrder({ column: i, isDown: order.column === i ? !order.isDown : !!column.isNumber })}>
                  {column.name}
                  {order.column === i && (order.isDown ? ' \u25be' : ' \u25b4')}
                </button>
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          <tr style={{ height: `${first * rowHeight}px` }} aria-hidden="true" />
          {rows.slice(first, last).map((row, i) => (
            <tr key={keyOf(row)} aria-rowindex={first + i + 1}
                class={keyOf(row) === chosen ? 'chosen' : ''}
                onClick={onChoose && (() => onChoose(row))}>
              {columns.map(column => (
                <td key={column.name} class={column.isNumber ? 'number' : ''}>{column.show(row)}</td>
              ))}
            </tr>
          ))}
          <tr style={{ height: `${(rows.length - last) * rowHeight}px` }} aria-hidden="true" />
        </tbody>
      </table>
    </div>
  );
}

function compare(a: number | string | undefined, b: number | string | undefined): number {
  if (a === undefined || b === undefined) return a === b ? 0 : a === undefined ? -1 : 1;
  if (typeof a === 'string') return a.localeCompare(String(b), 'en', { numeric: true });
  return a - Number(b);
}

export interface Line {
  label: string;
  colour: string;
  dash?: number[];
  values: (number | null)[];
}

const shortestTime = 60; // seconds that a chart shows at least

// Lines over time.
export function Chart(props: {
  title: string;
  times: number[];
  lines: Line[];
  theme: string;
  show: (value: number) => string;
}) {
  const box = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot>();
  const names = props.lines.map(line => line.label).join('\n');
  useLayoutEffect(() => {
    const element = box.current!;
    const axis = { stroke: themeColour('--text'), grid: { stroke: themeColour('--line'), width: 1 },
                   ticks: { stroke: themeColour('--line'), width: 1 }, font: '12px system-ui' };
    const show = (_: uPlot, values: number[]) => values.map(value => props.show(value));
    const made = new uPlot(
      {
        title: props.title,
        width: element.clientWidth,
        height: 220,
        cursor: { drag: { x: false, y: false } },
        scales: {
          x: { range: (_, low, high) => [Math.min(low, high - shortestTime), high] },
          y: { range: (_, _low, high) => [0, high > 0 ? 1.1 * high : 1] }
        },
        axes: [{ ...axis, space: 90, values: (_, times) => times.map(clock) }, { ...axis, size: 70, values: show }],
        series: [
          { label: 'time', value: (_: uPlot, time: number | null) => (time === null ? '-' : clock(time)) },
          ...props.lines.map(line => ({
            label: line.label,
            stroke: line.colour,
            dash: line.dash,
            width: 2,
            points: { show: false },
            value: (_: uPlot, value: number | null) => (value === null ? '-' : props.show(value))
          }))
        ]
      },
      data(props.times, props.lines),
      element
    );
    plot.current = made;
    const resized = new ResizeObserver(() => made.setSize({ width: element.clientWidth, height: 220 }));
    resized.observe(element);
    return () => {
      resized.disconnect();
      made.destroy();
    };
  }, [props.theme, names, props.title]);
  useEffect(() => plot.current?.setData(data(props.times, props.lines)));
  return <div class="chart"><div ref={box} role="img" aria-label={`${props.title}: ${names}`} /></div>;
}

function data(times: number[], lines: Line[]): uPlot.AlignedData {
  return [[...times], ...lines.map(line => [...line.values])];
}

// A canvas as wide as its place, in pixels of the device; `draw` is called for each new frame that
// is asked for by a change of `now`, and after a resize.
export function Canvas(props: {
  label: string;
  height: number;
  now: unknown;
  draw: (context: CanvasRenderingContext2D, width: number, height: number) => void;
  handlers?: Record<string, (event: any, x: number, y: number) => void>;
}) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const latest = useRef(props);
  latest.current = props;
  const frame = useRef(0);
  const redraw = () => {
    cancelAnimationFrame(frame.current);
    frame.current = requestAnimationFrame(() => {
      const element = canvas.current;
      const context = element?.getContext('2d');
      if (!element || !context) return;
      const scale = window.devicePixelRatio || 1;
      const { clientWidth: width, clientHeight: height } = element;
      if (element.width !== Math.round(width * scale) || element.height !== Math.round(height * scale)) {
        element.width = Math.round(width * scale);
        element.height = Math.round(height * scale);
      }
      context.setTransform(scale, 0, 0, scale, 0, 0);
      context.clearRect(0, 0, width, height);
      latest.current.draw(context, width, height);
    });
  };
  useEffect(() => {
    const element = canvas.current!;
    const resized = new ResizeObserver(redraw);
    resized.observe(element);
    const names = Object.keys(props.handlers ?? {});
    const listeners = names.map(name => {
      const listener = (event: Event) => {
        const place = element.getBoundingClientRect();
        const { clientX = 0, clientY = 0 } = event as MouseEvent;
        latest.current.handlers?.[name]?.(event, clientX - place.left, clientY - place.top);
        redraw();
      };
      element.addEventListener(name, listener, { passive: false });
      return listener;
    });
    return () => {
      cancelAnimationFrame(frame.current);
      resized.disconnect();
      names.forEach((name, i) => element.removeEventListener(name, listeners[i]));
    };
  }, []);
  useEffect(redraw, [props.now, props.height]);
  return (
    <canvas ref={canvas} class="drawn" style={{ height: `${props.height}px` }} tabIndex={0} role="img"
            aria-label={props.label} />
  );
}
