import type { WriteStream } from 'node:tty';
import type { Server } from '@metal/api/v1alpha1/server.ts';
import type { Cache } from '@metal/kube/cache/store.ts';
import type { ServerClaim } from '@metal/api/v1alpha1/server-claim.ts';

const redrawMs = 200;
const mostRows = 24;
const header = ['SERVER', 'MANUFACTURER', 'STATE', 'POWER', 'REASON'];

export interface SummaryCluster {
  /** For the person who explores the objects. */
  readonly shownKubeconfig: string;
  readonly kubectl: string;
}

/** Prints steps with their times and a live table below the current one. Without a terminal, one line per change of state. */
export class Screen implements Disposable {
  readonly #out: WriteStream;
  readonly #live: boolean;
  readonly #times: { title: string; seconds: number }[] = [];
  readonly #startedAt = performance.now();
  #servers: Cache<Server> | undefined;
  #claims: Cache<ServerClaim> | undefined;
  #timer: NodeJS.Timeout | undefined;
  #below: () => readonly string[] = () => [];
  #title = '';
  #stepStartedAt = 0;
  #drawn = 0;

  constructor(out: WriteStream) {
    this.#out = out;
    this.#live = out.isTTY;
  }

  log(line: string): void {
    this.#erase();
    this.#out.write(`${line}\n`);
  }

  async step<T>(title: string, work: () => Promise<T>): Promise<T> {
    this.#title = title;
    this.#stepStartedAt = performance.now();
    if (this.#live) this.#timer = setInterval(() => this.#draw(), redrawMs);
    try {
      const result = await work();
      const seconds = (performance.now() - this.#stepStartedAt) / 1_000;
      this.#times.push({ title, seconds });
      this.log(`${this.#mark('✔')} ${seconds.toFixed(1).padStart(6)} s  ${title}`);
      return result;
    } finally {
      clearInterval(this.#timer);
      this.#erase();
    }
  }

  follow(servers: Cache<Server>, claims: Cache<ServerClaim>): Disposable {
    this.#servers = servers;
    this.#claims = claims;
    if (this.#live) return { [Symbol.dispose]: () => undefined };
    return servers.onChange(({ key, before, after }) => {
      if (after === undefined || lineOf(before) === lineOf(after)) return;
      this.log(
        `  ${((performance.now() - this.#startedAt) / 1_000).toFixed(1).padStart(6)} s  ${key.padEnd(24)} ${lineOf(after)}`,
      );
    });
  }

  /** Adds lines below the table, on a terminal. */
  showBelow(lines: () => readonly string[]): void {
    this.#below = lines;
  }

  /** Continues to update the table after the last step. */
  stay(title: string): void {
    if (!this.#live) return this.log(title);
    this.#title = title;
    this.#stepStartedAt = performance.now();
    this.#timer = setInterval(() => this.#draw(), redrawMs);
  }

  /** The current table, for error messages. */
  lastSeen(): string {
    const table = this.#table();
    return (table.length > 0 ? table : [...align([header]), '  there is no Server yet']).join('\n');
  }

  summary({ shownKubeconfig, kubectl }: SummaryCluster, kinds: readonly string[]): void {
    const total = this.#times.reduce((sum, { seconds }) => sum + seconds, 0);
    const widest = Math.max(...this.#times.map(({ title }) => title.length));
    const rows = this.#times.map(
      ({ title, seconds }) => `  ${title.padEnd(widest)}  ${seconds.toFixed(1).padStart(6)} s`,
    );
    const lines = [
      '',
      ...rows,
      `  ${'total'.padEnd(widest)}  ${total.toFixed(1).padStart(6)} s`,
      '',
      'Explore the objects:',
      `  export KUBECONFIG=${shownKubeconfig}`,
      `  ${kubectl} get ${kinds.join(',')}`,
      '',
    ];
    this.log(lines.join('\n'));
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer);
    this.#erase();
  }

  #draw(): void {
    this.#erase();
    const seconds = (performance.now() - this.#stepStartedAt) / 1_000;
    const lines = [`… ${seconds.toFixed(1).padStart(6)} s  ${this.#title}`, ...this.#table(), ...this.#below()];
    const width = this.#out.columns;
    this.#out.write(`${lines.map((line) => line.slice(0, width - 1)).join('\n')}\n`);
    this.#drawn = lines.length;
  }

  #erase(): void {
    if (this.#drawn === 0) return;
    this.#out.moveCursor(0, -this.#drawn);
    this.#out.cursorTo(0);
    this.#out.clearScreenDown();
    this.#drawn = 0;
  }

  #table(): string[] {
    const servers = [...(this.#servers?.all() ?? [])].toSorted((a, b) =>
      a.metadata.name.localeCompare(b.metadata.name),
    );
    if (servers.length === 0) return [];
    const rows = servers
      .slice(0, mostRows)
      .map((server) => [
        server.metadata.name,
        server.status?.manufacturer ?? '',
        server.status?.state ?? '',
        server.status?.powerState ?? '',
        reasonOf(server),
      ]);
    const claims = [...(this.#claims?.all() ?? [])].map(
      ({ metadata, spec, status }) =>
        `  claim ${metadata.name}: ${status?.phase ?? 'new'}${spec.serverRef === undefined ? '' : ` on ${spec.serverRef.name}`}`,
    );
    const hidden =
      servers.length > mostRows
        ? [`  … and ${servers.length - mostRows} more: ${countStates(servers.slice(mostRows))}`]
        : [];
    return [...align([header, ...rows]), ...hidden, ...claims];
  }

  #mark(text: string): string {
    return this.#live ? `\u001b[32m${text}\u001b[0m` : text;
  }
}

const reasonOf = ({ status }: Server): string => status?.conditions?.find(({ type }) => type === 'Ready')?.reason ?? '';

const lineOf = (server: Server | undefined): string =>
  server === undefined
    ? ''
    : [server.status?.state ?? 'Initial', server.status?.powerState ?? '', reasonOf(server)]
        .filter((part) => part !== '')
        .join(' ');

function countStates(servers: readonly Server[]): string {
  const counts = new Map<string, number>();
  for (const { status } of servers)
    counts.set(status?.state ?? 'Initial', (counts.get(status?.state ?? 'Initial') ?? 0) + 1);
  return [...counts].map(([state, number]) => `${number} ${state}`).join(', ');
}

function align(rows: readonly (readonly string[])[]): string[] {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => (row[column] ?? '').length)));
  return rows.map(
    (row) =>
      `  ${row
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join('  ')
        .trimEnd()}`,
  );
}
