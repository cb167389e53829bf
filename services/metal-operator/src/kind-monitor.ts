import { type ComparedKinds, findKindProblems, type KindProblem } from '@metal/kube/client/installed-kinds.ts';
import type { KubeClient } from '@metal/kube/client/client.ts';
import { KubeError } from '@metal/kube/errors.ts';
import type { DefinedKind } from '@metal/kube/kinds/define-kind.ts';
import type { Clock } from '@metal/kube/runtime/clock.ts';
import { minutes, seconds } from '@metal/kube/runtime/durations.ts';
import type { Logger } from 'pino';

export interface KindMonitorOptions {
  readonly client: KubeClient;
  /** The kinds that the process cannot work without. */
  readonly kinds: readonly DefinedKind[];
  readonly clock: Clock;
  readonly log: Logger;
}

const intervalMs = seconds(60);
/** While there are problems. */
const retryMs = seconds(5);
const repeatMs = minutes(5);

/** Compares the installed CRDs with those of this version, all the time: people replace and delete them. */
export class KindMonitor {
  readonly #options: KindMonitorOptions;
  readonly #compared: ComparedKinds = new Map();
  #problems: readonly KindProblem[] = [];
  #logged: string | undefined;
  #repeatAt = 0;
  #isForbidden = false;
  #checked = Promise.withResolvers<void>();

  constructor(options: KindMonitorOptions) {
    this.#options = options;
  }

  get problems(): readonly KindProblem[] {
    return this.#problems;
  }

  /** The CRDs are being deleted, that of Servers among them: no Server outlives that. */
  get isUninstalling(): boolean {
    const isTerminating = ({ problem }: KindProblem) => problem === 'terminating';
    return (
      this.#problems.some(isTerminating) &&
      this.#problems.some(({ name, problem }) => name.startsWith('servers.') && problem !== 'outdated')
    );
  }

  /** Resolves after the next check that the API server answers, and when the monitor ends. */
  get nextCheck(): Promise<void> {
    return this.#checked.promise;
  }

  /** Runs until the signal is aborted; never rejects. */
  async run(signal: AbortSignal): Promise<void> {
    const { clock } = this.#options;
    while (!signal.aborted) {
      const isAnswered = await this.#check(signal);
      if (signal.aborted) break;
      if (isAnswered) {
        this.#checked.resolve();
        this.#checked = Promise.withResolvers();
      }
      const pauseMs = isAnswered && this.#problems.length === 0 ? intervalMs : retryMs;
      await clock.sleep(pauseMs, signal).catch(() => undefined);
    }
    this.#checked.resolve();
  }

  /** False when there is no answer yet. Without permission the problems stay unknown. */
  async #check(signal: AbortSignal): Promise<boolean> {
    const { client, kinds, log } = this.#options;
    try {
      this.#problems = await findKindProblems(client, kinds, { signal, compared: this.#compared });
      this.#isForbidden = false;
      this.#report();
      return true;
    } catch (error) {
      // Without a connection the lists fail as well, and that is reported.
      if (!(error instanceof KubeError) || error.code !== 'Forbidden') return false;
      if (!this.#isForbidden)
        log.warn({ error: error.message }, 'CRDs are not compared: apply deploy/rbac of this version');
      this.#isForbidden = true;
      return true;
    }
  }

  #report(): void {
    const { clock, log } = this.#options;
    const reason = describeKindProblems(this.#problems);
    const isRepeated = reason === this.#logged && clock.now() < this.#repeatAt;
    if (isRepeated || (reason === undefined && this.#logged === undefined)) return;
    this.#logged = reason;
    this.#repeatAt = clock.now() + repeatMs;
    if (reason === undefined) log.info('all CRDs are installed as this version needs them');
    else log.warn({ reason }, 'the installed CRDs are not those of this version');
  }
}

const remedies = {
  missing: 'are not installed: apply deploy/crds of this version',
  terminating: 'are being deleted with all their objects; afterwards apply deploy/crds, or stop the operator',
  outdated: 'are older than this version, so that writes fail: apply deploy/crds of this version',
} as const;

const maxFields = 3;

/** For /readyz and the log; undefined without problems. */
export function describeKindProblems(problems: readonly KindProblem[]): string | undefined {
  const texts = (['missing', 'terminating', 'outdated'] as const).flatMap((wanted) => {
    const names = problems.filter(({ problem }) => problem === wanted).map(describeKind);
    return names.length === 0 ? [] : [`CRDs ${names.join(', ')} ${remedies[wanted]}`];
  });
  return texts.length === 0 ? undefined : texts.join('; ');
}

function describeKind({ name, missing }: KindProblem): string {
  const more = missing.length > maxFields ? ` and ${missing.length - maxFields} more` : '';
  return missing.length === 0 ? name : `${name} (without ${missing.slice(0, maxFields).join(', ')}${more})`;
}
