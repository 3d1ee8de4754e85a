const byteUnits = ['B', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB'];

export function bytes(value: number|undefined|null): string {
  if (value === undefined || value === null) return '';
  let rest = value;
  let unit = 0;
  while (rest >= 1000 && unit < byteUnits.length - 1) {
    rest /= 1024;
    unit += 1;
  }
  return `${unit === 0 || rest >= 100 ? Math.round(rest) : rest.toFixed(1)} ${byteUnits[unit]}`;
}

export function seconds(value: number|undefined|null): string {
  if (value === undefined || value === null) return '';
  if (value === 0) return '0 s';
  if (value < 0.0995) return `${(value * 1000).toPrecision(2)} ms`;
  if (value < 9.95) return `${value.toFixed(1)} s`;
  if (value < 120) return `${Math.round(value)} s`;
  if (value < 7200) return `${Math.floor(value / 60)} min ${Math.round(value % 60)} s`;
  if (value < 172800) return `${Math.floor(value / 3600)} h ${Math.floor((value % 3600) / 60)} min`;
  return `${Math.floor(value / 86400)} d`;
}

export function count(value: number|undefined|null): string {
  return value === undefined || value === null ? '' : Math.round(value).toLocaleString('en');
}

export function percent(share: number|undefined|null): string {
  return share === undefined || share === null ? '' : `${Math.round(100 * share)} %`;
}

export function clock(unixSeconds: number): string {
  return new Date(unixSeconds * 1000).toLocaleTimeString('en-GB');
}

// [0, 1, 2, 5] -> "0-2, 5"; no more than `most` parts.
export function ranges(numbers: number[], most = 12): string {
  const sorted = [...numbers].sort((a, b) => a - b);
  const parts: string[] = [];
  for (let i = 0; i < sorted.length;) {
    let end = i;
    while (end + 1 < sorted.length && sorted[end + 1] === sorted[end] + 1) end += 1;
    parts.push(end === i ? `${sorted[i]}` : `${sorted[i]}-${sorted[end]}`);
    i = end + 1;
  }
  return parts.length > most ? `${parts.slice(0, most).join(', ')} ...` : parts.join(', ');
}

// "0-2, 5" -> [0, 1, 2, 5], those that are there; what is no number is left out. Nothing: all.
export function idsIn(text: string, known: number[]): number[] {
  const parts = text.split(/[\s,]+/).filter(Boolean).map(part => part.split('-').map(Number));
  if (parts.length === 0) return known;
  return known.filter(id => parts.some(([low, high = low]) => low <= id && id <= high));
}
