import { type ComparedKinds, findKindProblems, type KindProblem } from '@metal/kube/client/installed-kinds.ts';
import type { KubeClient } from '@metal/kube/client/client.ts';
import { KubeError } from '@metal/kube/errors.ts';
import type { DefinedKind } from '@metal/kube/kinds/define-kind.ts';
import type { Clock } from '@metal/kube/runtime/clock.ts';
import { minutes, seconds } from '@metal/kube/runtime/durations.ts';
import { ScrapedMetric } from '@metal/kube/runtime/scraped-metric.ts';
import type { Logger } from 'pino';
import type { Registry } from 'prom-client';

export interface KindMonitorOptions {
  readonly client: KubeClient;
  /** The kinds that the process cannot work without. */
  readonly kinds: readonly DefinedKind[];
  readonly clock: Clock;
  readonly log: Logger;
  /** Comparisons so far. Default: none. */
  readonly compared?: ComparedKinds | undefined;
}

const intervalMs = seconds(60);
/** While there are problems. */
const retryMs = seconds(5);
const repeatMs = minutes(5);

/** Compares the installed CRDs with those of this version, all the time: people replace and delete them. */
export class KindMonitor {
  readonly #options: KindMonitorOptions;
  readonly #compared: ComparedKinds;
  #problems: readonly KindProblem[] = [];
  #logged: string | undefined;
  #repeatAt = 0;
  /** Code of the error of the last check, which is logged; undefined after a comparison. */
  #failedWith: string | undefined;
  #checked = Promise.withResolvers<void>();

  constructor(options: KindMonitorOptions) {
    this.#options = options;
    this.#compared = options.compared ?? new Map();
  }

  get problems(): readonly KindProblem[] {
    return this.#problems;
  }

  /** The CRDs are being deleted, that of Servers among them: no Server outlives that. */
  get isUninstalling(): boolean {
    return (
      this.#problems.some(isTerminating) &&
      this.#problems.some(({ name, problem }) => name.startsWith('servers.') && problem !== 'outdated')
    );
  }

  /**
   * Controllers must not start: with outdated CRDs they act but cannot record it, and with the CRD of claims all claims go, whose
   * machines would be powered off and erased.
   */
  get holdsControllers(): boolean {
    if (this.isUninstalling) return false;
    return this.#problems.some((kind) => kind.problem !== 'terminating' || isLosingClaims(kind));
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

  /** False when there is no answer yet. Where CRDs cannot be read, or do not exist, the problems stay unknown. */
  async #check(signal: AbortSignal): Promise<boolean> {
    const { client, kinds } = this.#options;
    try {
      this.#problems = await findKindProblems(client, kinds, { signal, compared: this.#compared });
      this.#failedWith = undefined;
      this.#report();
      return true;
    } catch (error) {
      if (signal.aborted) return false;
      this.#reportFailure(error);
      if (!(error instanceof KubeError) || error.status === undefined) return false;
      if (error.status === 429 || error.status === 503) return false;
      if (error.status >= 500) return true;
      // Nobody knows any more whether they last.
      this.#problems = [];
      this.#logged = undefined;
      return true;
    }
  }

  #reportFailure(error: unknown): void {
    const code = error instanceof KubeError ? error.code : 'unknown';
    if (code === this.#failedWith) return;
    this.#failedWith = code;
    const message = error instanceof Error ? error.message : String(error);
    const remedy = code === 'Forbidden' ? 'apply deploy/rbac of this version' : 'retrying';
    this.#options.log.warn({ code, error: message }, `CRDs are not compared: ${remedy}`);
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

const isMissing = ({ problem }: KindProblem): boolean => problem === 'missing';
const isTerminating = ({ problem }: KindProblem): boolean => problem === 'terminating';
const isLosingClaims = ({ name, problem }: KindProblem): boolean =>
  problem === 'terminating' && name.startsWith('serverclaims.');

/** Why /readyz is 503: before the start any problem, afterwards only missing CRDs; undefined without. */
export const describeUnready = (problems: readonly KindProblem[], hasStarted: boolean): string | undefined =>
  hasStarted ? describeKindProblems(problems.filter(isMissing)) : describeHold(problems);

/** What /readyz adds to `ok` of a process that has started; undefined without. */
export const describeReadyNote = (problems: readonly KindProblem[]): string | undefined =>
  describeKindProblems(problems.filter((kind) => !isMissing(kind)));

/** For the log while controllers wait. */
export function describeHold(problems: readonly KindProblem[]): string | undefined {
  const reason = describeKindProblems(problems);
  if (!problems.some(isLosingClaims)) return reason;
  return `${reason}; claims go with their CRD, so that their machines would be powered off and erased: controllers start when the CRD of Servers is being deleted too, or when deploy/crds is complete again`;
}

const remedies = {
  missing: 'are not installed: apply deploy/crds of this version',
  terminating: 'are being deleted with all their objects; afterwards apply deploy/crds, or stop the operator',
  outdated: 'are older than this version, so that writes fail: apply deploy/crds of this version',
} as const;

/** One sample per CRD with a problem. */
export function exportKindProblems(registry: Registry, monitor: Pick<KindMonitor, 'problems'>): void {
  void new ScrapedMetric({
    registry,
    name: 'metal_crd_problems',
    help: 'CRDs that are missing, being deleted (terminating), or older than this version (outdated)',
    read: () => monitor.problems.map(({ name, problem }) => ({ labels: { crd: name, problem }, value: 1 })),
  });
}

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
