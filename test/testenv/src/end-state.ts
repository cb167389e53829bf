import { Secret } from '@metal/kube/kinds/builtin.ts';
import type { Condition, KubeObject } from '@metal/kube/kinds/kind.ts';
import type { Node } from '@metal/simulator/fleet.ts';
import type { Testenv } from './testenv.ts';
import { isAbout } from './fault-points.ts';

/** What two runs are compared by: everything that neither time nor chance gives. */
export interface EndState {
  /** By kind and name. */
  readonly objects: Readonly<Record<string, unknown>>;
  readonly machine: {
    readonly powerLog: readonly string[];
    /**
     * What each start was told, where it came from and how it ended. Whoever lost the answer to its report with the operator
     * reports again until it is switched off: the report was taken all the same.
     */
    readonly boots: readonly string[];
    /** An override that nobody consumed would surprise the next start. */
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

/** Names and keys of the secrets that were made for the machine. */
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
/** Versions, who wrote what when, and the digest of a report that tells its time. */
const volatileFields = new Set([
  'uid',
  'resourceVersion',
  'generation',
  'observedGeneration',
  'managedFields',
  'reportDigest',
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
 * Written down together with the step that follows them, or after 30 s (services/boot/src/boot-progress-recorder.ts): a boot service that is
 * killed in between takes them along.
 */
const unflushedSteps = new Set(['script', 'kernel', 'initrd']);

/**
 * The goal without those steps on the way that a killed boot service has taken along, and with the discoveries that were
 * repeated; everything else has to be there.
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
 * A machine whose start was not written down before the operator was killed, and that has reported and is off when the next one
 * looks, is taken for one that never ran: its report is not believed, and it is discovered anew.
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
 * Said only by who was there: that a power change is over, by who saw it begin; that a boot was prepared, by who saw it
 * wait; that the script was fetched, by a boot service that lived until it had something better to write down.
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
