import type { WriteStream } from 'node:tty';
import type { Fleet } from './fleet.ts';

const intervalMs = 1_000;
const clearLine = '\r\u001B[2K';

/** The state of the fleet, in one line. */
export function statusOf({ nodes, requestCount }: Fleet, requestsPerSecond: number): string {
  const count = (holds: (node: Fleet['nodes'][number]) => boolean) => nodes.filter(holds).length;
  const on = count(({ power }) => power === 'On');
  const changing = count(({ power }) => power === 'PoweringOn' || power === 'PoweringOff');
  const probing = count(({ running }) => running?.role === 'probe');
  const installed = count(({ running }) => running?.role === 'os');
  const faulty = count(({ bmc }) => Object.keys(bmc.activeFaults).length > 0);
  const sessions = nodes.reduce((sum, { bmc }) => sum + bmc.openSessions, 0);
  const parts = [
    `${nodes.length} servers: ${on} on${changing > 0 ? ` (+${changing} changing)` : ''}`,
    `${probing} probing`,
    `${installed} in an OS`,
    `${sessions} sessions`,
    `${requestCount} requests (${requestsPerSecond}/s)`,
    ...(faulty > 0 ? [`${faulty} with faults`] : []),
  ];
  return parts.join(', ');
}

/** Updates the line on a terminal; writes nothing otherwise. */
export function showStatus(fleet: Fleet, terminal: Pick<WriteStream, 'isTTY' | 'columns' | 'write'>): Disposable {
  if (!terminal.isTTY) return { [Symbol.dispose]: () => {} };
  let before = fleet.requestCount;
  const timer = setInterval(() => {
    const now = fleet.requestCount;
    terminal.write(`${clearLine}${statusOf(fleet, now - before).slice(0, terminal.columns - 1)}`);
    before = now;
  }, intervalMs);
  return {
    [Symbol.dispose]: () => {
      clearInterval(timer);
      terminal.write(clearLine);
    },
  };
}
