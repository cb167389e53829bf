import type { Condition, KubeObject } from '@metal/kube/kinds/kind.ts';
import type { Cache } from '@metal/kube/cache/store.ts';
import type { Node } from '@metal/simulator/fleet.ts';

interface StatusFields {
  state?: string | undefined;
  phase?: string | undefined;
  powerState?: string | undefined;
  conditions?: readonly Condition[] | undefined;
}

/** Events in order: each change of state, power or reason that the watches delivered. */
export class Timeline {
  /** Timeout of each wait, in wall-clock time. */
  readonly timeoutMs: number;
  readonly #caches: Record<string, Cache<KubeObject>>;
  readonly #lines: string[] = [];
  readonly #last = new Map<string, string>();
  readonly #startedAt = performance.now();

  constructor(caches: Record<string, unknown>, timeoutMs: number) {
    this.timeoutMs = timeoutMs;
    // Every value is a cache of some kind of object; only what all kinds share is read.
    this.#caches = caches as Record<string, Cache<KubeObject>>;
  }

  start(): void {
    for (const [kind, cache] of Object.entries(this.#caches)) {
      cache.onChange(({ key, after }) => this.#note(`${kind}/${key}`, after));
    }
  }

  note(line: string): void {
    this.#lines.push(`${((performance.now() - this.#startedAt) / 1_000).toFixed(2).padStart(7)} s  ${line}`);
  }

  /** Power and boot steps of a machine belong to the timeline as well. */
  follow({ name, machine }: Node): void {
    let noted = 0;
    let power = machine.power;
    machine.onChange(() => {
      if (machine.power !== power) this.note(`${`machine/${name}`.padEnd(40)} ${(power = machine.power)}`);
      for (const step of machine.bootLog.slice(noted)) this.note(`${`machine/${name}`.padEnd(40)} ${step}`);
      noted = machine.bootLog.length;
    });
  }

  text(): string {
    return `timeline:\n${this.#lines.slice(-200).join('\n')}`;
  }

  #note(objectKey: string, object: KubeObject | undefined): void {
    const line = object === undefined ? 'gone' : describe(object);
    if (this.#last.get(objectKey) === line) return;
    this.#last.set(objectKey, line);
    this.note(`${objectKey.padEnd(40)} ${line}`);
  }
}

function describe(object: KubeObject): string {
  // The members read here are optional on every kind.
  const status = (object as KubeObject & { status?: StatusFields }).status ?? {};
  const reasons = (status.conditions ?? []).map(
    ({ type, status: holds, reason, message }) =>
      `${type}=${holds}/${reason}${holds === 'False' ? ` (${message})` : ''}`,
  );
  const leaving = object.metadata.deletionTimestamp === undefined ? [] : ['being deleted'];
  return [status.state ?? status.phase ?? '-', status.powerState ?? '', ...leaving, ...reasons]
    .filter((part) => part !== '')
    .join('  ');
}
