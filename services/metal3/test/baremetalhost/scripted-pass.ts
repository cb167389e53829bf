import { isDeepStrictEqual } from 'node:util';
import type { BareMetalHost } from '@metal/api/metal3/bare-metal-host.ts';
import type { BareMetalHostStatus } from '@metal/api/metal3/bare-metal-host-status.ts';
import type { Act } from '@metal/kube/controller/decide.ts';
import { done } from '../../src/provisioner/step-result.ts';
import { hostActions } from '../../src/controllers/baremetalhost/actions.ts';
import { type HostSurroundings, readHostFacts } from '../../src/controllers/baremetalhost/facts.ts';
import { enterState, type HostPass, newPass, outcomesIn, stateOf } from '../../src/controllers/baremetalhost/memory.ts';
import { type Script, ScriptedProvisioner } from './scripted-provisioner.ts';
import { decideDeletion, hostTable } from '../../src/controllers/baremetalhost/table.ts';
import type { HostAction, HostFacts, HostState } from '../../src/controllers/baremetalhost/types.ts';
import type { HostWork } from '../../src/controllers/baremetalhost/work.ts';

export interface PassReport {
  /** As it is stored after the pass. */
  readonly status: BareMetalHostStatus;
  /** It differs from the one before. */
  readonly isSaved: boolean;
  /** States, in order, without that of the start. */
  readonly entered: readonly HostState[];
  /** wait with milliseconds, rest, or the message of an error. */
  readonly end: string;
  readonly reason: string;
  readonly calls: readonly string[];
  readonly removedAnnotations: readonly string[];
}

export const surroundings: HostSurroundings = {
  credentials: 'present',
  firmware: 'same',
  hasServicing: false,
  hasServicingSpec: false,
  hasDataImage: false,
  retryLimit: 5,
};

const at = '2026-01-01T00:00:00Z';
const stepsPerPass = 20;

/** Observes, decides and acts until the table waits or rests. */
export async function runPass(host: BareMetalHost, script: Script, around: HostSurroundings): Promise<PassReport> {
  const run = new ScriptedPass(host, script, around);
  for (let count = 0; count < stepsPerPass; count += 1) {
    const report = await run.step();
    if (report !== undefined) return report;
  }
  return run.report('never rests', '');
}

class ScriptedPass {
  readonly #provisioner: ScriptedProvisioner;
  readonly #around: HostSurroundings;
  readonly #pass: HostPass;
  readonly #before: BareMetalHostStatus;
  readonly #entered: HostState[] = [];
  readonly #removedAnnotations: string[] = [];
  #host: BareMetalHost;
  #state: HostState;
  /** As the API server has it. */
  #stored: BareMetalHostStatus;

  constructor(host: BareMetalHost, script: Script, around: HostSurroundings) {
    this.#provisioner = new ScriptedProvisioner(script);
    this.#around = around;
    this.#host = host;
    this.#pass = newPass(host);
    this.#before = this.#pass.status;
    this.#stored = this.#before;
    this.#state = stateOf(host);
  }

  async step(): Promise<PassReport | undefined> {
    enterState(this.#pass, this.#state, { spec: this.#host.spec, at });
    const facts = readHostFacts(this.#host, this.#around, { state: this.#state, pass: this.#pass });
    const decision = facts.isDeleting ? decideDeletion(facts) : hostTable[this.#state].decide(facts);
    if (decision.kind === 'go') {
      this.#state = decision.phase;
      this.#entered.push(this.#state);
      return undefined;
    }
    if (decision.kind === 'act') return this.#act(facts, decision);
    this.#stored = this.#pass.status;
    return decision.kind === 'rest'
      ? this.report('rest', '')
      : this.report(`wait ${decision.delayMs}`, decision.reason);
  }

  report(end: string, reason: string): PassReport {
    return {
      status: this.#stored,
      isSaved: !isDeepStrictEqual(this.#stored, this.#before),
      entered: this.#entered,
      end,
      reason,
      calls: this.#provisioner.calls,
      removedAnnotations: this.#removedAnnotations,
    };
  }

  async #act(facts: HostFacts, { action, reason }: Act<HostAction>): Promise<PassReport | undefined> {
    // The reconcile loop stores a new state before it acts.
    if (this.#stored.provisioning.state !== this.#state) this.#stored = this.#pass.status;
    try {
      await hostActions[action](this.#workOf(facts));
      return undefined;
    } catch (error) {
      return this.report(error instanceof Error ? error.message : 'error', reason);
    }
  }

  #workOf(facts: HostFacts): HostWork {
    return {
      ...quietWork(this.#around),
      host: this.#host,
      facts,
      pass: this.#pass,
      outcomes: outcomesIn(this.#pass, this.#state),
      provisioner: this.#provisioner,
      removeAnnotations: async (keys) => {
        this.#removedAnnotations.push(...keys);
        this.#host = withoutAnnotations(this.#host, keys);
      },
    };
  }
}

function withoutAnnotations(host: BareMetalHost, keys: readonly string[]): BareMetalHost {
  const kept = Object.entries(host.metadata.annotations ?? {}).filter(([key]) => !keys.includes(key));
  return { ...host, metadata: { ...host.metadata, annotations: Object.fromEntries(kept) } };
}

const quietWork = ({
  credentials,
}: HostSurroundings): Omit<HostWork, 'host' | 'facts' | 'pass' | 'outcomes' | 'provisioner' | 'removeAnnotations'> => ({
  credentials:
    credentials === 'present'
      ? { name: 'c', namespace: 'n', version: '1' }
      : { problem: 'the Secret c does not exist', retryMs: 10_000 },
  firmware: { settings: {}, updates: [] },
  hardware: undefined,
  defaultArchitecture: 'x86_64',
  random: () => 0,
  at,
  saveHardware: async () => undefined,
  attachDataImage: async () => done,
  releaseSecrets: async () => undefined,
  saveUpdates: async () => undefined,
  forgetFirmware: () => undefined,
  ensureFirmwareObjects: async () => undefined,
});
