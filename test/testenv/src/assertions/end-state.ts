import assert from 'node:assert/strict';
import { isDeepStrictEqual } from 'node:util';
import { Secret } from '@metal/kube/kinds/builtin.ts';
import type { Condition, KubeObject } from '@metal/kube/kinds/kind.ts';
import type { Node } from '@metal/simulator/fleet.ts';
import type { Testenv } from '../testenv.ts';
import { isAbout } from '../operator/fault-points.ts';
import { untilChanged } from '../cluster/watched-object.ts';

/** The state by which two runs are compared: everything that depends on neither time nor chance. */
export interface EndState {
  /** By kind and name. */
  readonly objects: Readonly<Record<string, unknown>>;
  readonly machine: {
    readonly powerLog: readonly string[];
    /**
     * Override, source and result of each start. A probe that lost the response to its report in a kill reports again
     * until it is powered off: the report was accepted nevertheless.
     */
    readonly boots: readonly string[];
    /** An override that no start consumed would affect the next start. */
    readonly override: string | undefined;
  };
}

export function endStateOf(testenv: Testenv, node: Node): EndState {
  const { endpoints, bmcs, servers, claims, boots, inventories } = testenv;
  const objects = [endpoints, bmcs, servers, claims, boots, inventories].flatMap((cache) =>
    [...cache.all()].filter((object: KubeObject) => isAbout(object, node)),
  );
  return {
    objects: Object.fromEntries(
      objects
        .map((object) => [`${object.kind}/${object.metadata.name}`, withoutVolatileFields(object, node)] as const)
        .toSorted(([one], [other]) => one.localeCompare(other)),
    ),
    machine: {
      powerLog: [...node.powerLog],
      boots: node.boots.map(
        ({ override, from, outcome = '', ran }) =>
          `${override} ${from} ${outcome === 'lost power' ? (ran ?? outcome) : outcome}`,
      ),
      override: node.machine.override?.target,
    },
  };
}

/** Waits until the state is that of a run without kills; reports the differences after the deadline. */
export async function untilEndState(testenv: Testenv, node: Node, goal: EndState): Promise<void> {
  const follow = (check: () => void) => {
    const stack = new DisposableStack();
    stack.use(testenv.onChange(check));
    stack.use(node.machine.onChange(check));
    return stack;
  };
  const isReached = () => {
    const state = endStateOf(testenv, node);
    return isDeepStrictEqual(state, tolerateLostWrites(goal, state));
  };
  await untilChanged(node.name, 'has the end state of a run without kills', isReached, follow, testenv.timeline).catch(
    (error: unknown) => {
      assert.deepEqual(endStateOf(testenv, node), goal, String(error));
    },
  );
}

/** Names and keys of the secrets that were created for the machine. */
export async function secretsOf(testenv: Testenv, node: Node): Promise<string[]> {
  const { items } = await testenv.client.list(Secret);
  return items
    .filter((secret) => isAbout(secret, node))
    .map(
      ({ metadata, data }) =>
        `${metadata.name}: ${Object.keys(data ?? {})
          .toSorted()
          .join(' ')}`,
    )
    .toSorted();
}

const uidPattern = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
const timePattern = /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z/g;
/** Versions, field managers, and the digest of a report that contains a time. */
const volatileFields = new Set([
  'uid',
  'resourceVersion',
  'generation',
  'observedGeneration',
  'managedFields',
  'reportDigest',
  // Kills interrupt and repeat phases.
  'history',
]);

function withoutVolatileFields(value: unknown, node: Node): unknown {
  if (typeof value === 'string')
    return uidPattern.test(value) && value.toLowerCase() !== node.uuid.toLowerCase()
      ? '<uid>'
      : value.replace(timePattern, '<time>');
  if (value === node.bmc.port) return '<port>';
  if (Array.isArray(value)) return value.map((entry) => withoutVolatileFields(entry, node));
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).filter(([name]) => !volatileFields.has(name));
  return Object.fromEntries(
    entries
      .map(([name, member]) => [
        name,
        name === 'conditions' ? conditionsOf(member) : withoutVolatileFields(member, node),
      ])
      .toSorted(([one], [other]) => String(one).localeCompare(String(other))),
  );
}

/**
 * Written together with the step that follows them, or after 30 s (services/boot/src/progress/boot-progress-recorder.ts): a boot
 * service killed in between loses them.
 */
const unflushedSteps = new Set(['script', 'kernel', 'initrd']);

/**
 * The expected state without the intermediate steps that a killed boot service has lost, and with repeated discoveries;
 * everything else must be equal.
 */
export function tolerateLostWrites(goal: EndState, state: EndState): EndState {
  const repeats = repeatedDiscoveries(goal, state);
  const { machine } = goal;
  return {
    objects: withoutLost(goal.objects, state.objects) as EndState['objects'], // members stay what they are
    machine: {
      ...machine,
      powerLog: [...repeats.flatMap(() => ['On', 'Off']), ...machine.powerLog],
      boots: [...repeats, ...machine.boots],
    },
  };
}

/**
 * A machine that has reported and is off when the next operator starts, and whose start a killed operator did not
 * record, counts as never started: its report is rejected, and it is discovered again.
 */
export function repeatedDiscoveries(goal: EndState, state: EndState): string[] {
  const [first] = goal.machine.boots;
  const count = state.machine.boots.length - goal.machine.boots.length;
  return state.machine.boots.slice(0, Math.max(0, count)).filter((boot) => boot === first);
}

function withoutLost(goal: unknown, state: unknown): unknown {
  if (typeof goal !== 'object' || goal === null || typeof state !== 'object' || state === null) return goal;
  if (Array.isArray(goal)) return goal;
  const seen: Readonly<Record<string, unknown>> = { ...state };
  const members = Object.entries(goal).map(([name, member]) => [
    name,
    name === 'steps' ? stepsLeft(member, seen[name]) : withoutLost(member, seen[name]),
  ]);
  return Object.fromEntries(members);
}

/** Boot configurations alone have steps, and of one shape. */
function stepsLeft(goal: unknown, state: unknown): unknown[] {
  const [wanted, written] = [goal, state ?? []] as { name: string }[][];
  const names = new Set(written?.map(({ name }) => name));
  return (wanted ?? []).filter(({ name }) => names.has(name) || !unflushedSteps.has(name));
}

/**
 * Reported only by a process that saw both ends: the end of a power change, by the process that saw its begin; a
 * prepared boot, by the process that saw it pending; a fetched script, by a boot service that lived until the next
 * write.
 */
const transientConditions = new Set([
  'PoweringOn=False/NotPoweringOn',
  'WaitingForPowerOff=False/PowerOffConfirmed',
  'Ready=True/Prepared',
  'IPXEScriptFetched=True/IPXEScriptDelivered',
]);

function conditionsOf(conditions: unknown): string[] {
  // Every kind has conditions of the one shape.
  return (conditions as Condition[])
    .map(({ type, status, reason }) => `${type}=${status}/${reason}`)
    .filter((text) => !transientConditions.has(text))
    .toSorted();
}
