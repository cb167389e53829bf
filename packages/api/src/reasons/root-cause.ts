import type { ReasonActor, ReasonCatalogue, ReasonEntry, ReasonWeight } from '@metal/kube/controller/decide.ts';
import type { Condition, KubeObject, ObjectRef } from '@metal/kube/kinds/kind.ts';
import { maintenanceColumnReasonAnnotation, operationAnnotation } from '../wire/contract.ts';
import { isPaused } from '../wire/paused.ts';
import catalogue from './catalogue.json' with { type: 'json' };
import { linksOf, type ObjectName } from './links.ts';

/** Reads objects, from a cache or from what was loaded before. Undefined: it does not exist, or may not be read. */
export interface ObjectReader {
  get(kind: string, ref: ObjectRef): KubeObject | undefined;
}

/** The wait of one object of the chain. */
export interface Finding {
  readonly object: ObjectName;
  /** Type of the condition; undefined if the object has no conditions, or is ignored by annotation. */
  readonly condition: string | undefined;
  readonly reason: string;
  /** Message of the condition, without the time at its end. */
  readonly message: string;
  /** RFC 3339, since when the reason holds. */
  readonly since: string | undefined;
  readonly weight: ReasonWeight;
  readonly actor: ReasonActor;
  readonly remedy: string;
  /** Command line with the names of this object; undefined if it has none, or a field that it names is empty. */
  readonly command: string | undefined;
}

export interface RootCause {
  /** From the object that was asked for to the one that holds the cause. */
  readonly chain: readonly Finding[];
  /** Undefined if nothing on the chain waits. */
  readonly root: Finding | undefined;
  /** Objects that would belong to the chain and could not be read. */
  readonly notRead: readonly ObjectName[];
}

/**
 * Follows the reasons that point to another object: claim, server, then boot configuration, BMC or maintenance. The root is the
 * last object that waits: where the object that a reason points to is fine by now, the root is the reason itself.
 */
export function findRootCause(start: ObjectName, reader: ObjectReader): RootCause {
  const chain: Finding[] = [];
  const notRead: ObjectName[] = [];
  const seen = new Set<string>();
  let candidates: readonly ObjectName[] = [start];
  while (candidates.length > 0) {
    const [name, ...others] = candidates;
    if (name === undefined || seen.has(keyOf(name))) break;
    seen.add(keyOf(name));
    const object = reader.get(name.kind, name);
    if (object === undefined) {
      notRead.push(name);
      candidates = others;
      continue;
    }
    const found = findIn(object, name, chain.length === 0);
    if (found === undefined) break;
    chain.push(toFinding(name, object, found));
    candidates = linksOf(object, name.kind, found.entry.pointsTo);
  }
  return { chain, root: chain.findLast(({ weight }) => weight !== 'ok'), notRead };
}

const keyOf = ({ kind, namespace = '', name }: ObjectName): string => `${kind}/${namespace}/${name}`;

/** A reason of an object, with its entry in the catalogue. */
interface Found {
  readonly entry: ReasonEntry;
  readonly condition?: string;
  readonly reason: string;
  readonly message: string;
  readonly since: string | undefined;
}

/** Reasons that no controller reports: they follow from the object alone. */
export const impliedReasons = {
  Ignored: {
    meaning: 'An annotation keeps the operator from the object; its status may be old.',
    remedy: 'Remove the annotation metal.ironcore.dev/operation when the object may be worked on again.',
    weight: 'waiting',
    actor: 'person',
  },
  InMaintenance: {
    meaning: 'A ServerMaintenance has the server.',
    remedy: 'Delete the ServerMaintenance when the work is done.',
    weight: 'waiting',
    actor: 'person',
    command: 'kubectl delete servermaintenance -n {namespace} {name}',
  },
} as const satisfies ReasonCatalogue;

/** A person's own hold comes first, then Ready, then the most urgent of the other conditions. */
function findIn(object: KubeObject, { kind }: ObjectName, isStart: boolean): Found | undefined {
  const { annotations, creationTimestamp } = object.metadata;
  if (isPaused(object)) {
    const message = `annotation ${operationAnnotation}=${annotations?.[operationAnnotation]}`;
    return { entry: impliedReasons.Ignored, reason: 'Ignored', message, since: undefined };
  }
  if (kind === 'ServerMaintenance' && isInMaintenance(object)) {
    const message = annotations?.[maintenanceColumnReasonAnnotation] ?? '';
    return { entry: impliedReasons.InMaintenance, reason: 'InMaintenance', message, since: creationTimestamp };
  }
  const found = conditionsOf(object).flatMap((condition) => explain(condition, kind) ?? []);
  const ready = found.find(({ condition }) => condition === 'Ready');
  if (ready !== undefined && ready.entry.weight !== 'ok') return ready;
  const urgent = found.filter(({ entry, condition = '' }) => isUrgent(entry) && (isStart || !asides.has(condition)));
  return urgent.toSorted(byUrgency)[0] ?? ready;
}

/** It has its server: the wait of others is its own doing. */
const isInMaintenance = (object: KubeObject): boolean =>
  conditionsOf(object).every(({ type, status }) => type !== 'Ready' || status === 'True');

const isUrgent = ({ weight }: ReasonEntry): boolean => weight === 'needsPerson' || weight === 'failed';

/** Conditions about services that no other object depends on. */
const asides = new Set(['EventsSubscribed', 'DNSRecordApplied']);
const rank = ({ entry: { weight } }: Found): number => (weight === 'failed' ? 0 : 1);
const byUrgency = (one: Found, other: Found): number =>
  rank(one) - rank(other) || ((one.since ?? '') < (other.since ?? '') ? -1 : 1);

function explain({ type, status, reason, message, lastTransitionTime }: Condition, kind: string): Found | undefined {
  const entry = entryOf(kind, reason) ?? (type === 'Ready' && status === 'False' ? unknownReason : undefined);
  if (entry === undefined) return undefined;
  const [, text = message, since = lastTransitionTime] = /^(.*) \(since (\S+)\)$/s.exec(message) ?? [];
  return { entry, condition: type, reason, message: text, since };
}

const eventsOf = 'kubectl get events -A --field-selector involvedObject.name={name}';
// Generated from catalogues of these types; TypeScript widens the words of a JSON file to string.
const catalogues = catalogue.reasons as Readonly<Record<string, ReasonCatalogue>>;
const kinds: Readonly<Record<string, string>> = catalogue.reasonKinds;
const codes: Readonly<Record<string, { readonly retry: string; readonly meaning: string; readonly remedy: string }>> =
  catalogue.errorCodes;

/** The entry of a reason that objects of the kind report; an error code has one too. */
export function entryOf(kind: string, reason: string): ReasonEntry | undefined {
  for (const [controller, reasons] of Object.entries(catalogues))
    if (kinds[controller] === kind && Object.hasOwn(reasons, reason)) return reasons[reason];
  const code = Object.hasOwn(codes, reason) ? codes[reason] : undefined;
  if (code === undefined) return undefined;
  const { retry, meaning, remedy } = code;
  if (retry === 'later') return { meaning, remedy, weight: 'waiting', actor: 'operator' };
  return { meaning, remedy, weight: 'failed', actor: 'person', command: eventsOf };
}

const unknownReason: ReasonEntry = {
  meaning: 'The reason is of another version.',
  remedy: 'Read the message of the condition.',
  weight: 'waiting',
  actor: 'operator',
};

function conditionsOf(object: KubeObject): readonly Condition[] {
  const status = 'status' in object ? object.status : undefined;
  if (typeof status !== 'object' || status === null || !('conditions' in status)) return [];
  // Every kind of the product has its conditions in this shape.
  return (status.conditions ?? []) as readonly Condition[];
}

function toFinding(name: ObjectName, object: KubeObject, { entry, ...found }: Found): Finding {
  const { condition, reason, message, since } = found;
  const { weight, actor, remedy, command } = entry;
  return {
    object: name,
    condition,
    reason,
    message,
    since,
    weight,
    actor,
    remedy,
    command: command === undefined ? undefined : fillIn(command, object),
  };
}

/** Undefined if a field is empty: half a command would act on something else. */
function fillIn(command: string, object: KubeObject): string | undefined {
  const { name, namespace } = object.metadata;
  let isComplete = true;
  const filled = command.replaceAll(/\{(name|namespace|spec(?:\.\w+)+)\}/g, (_all, path: string) => {
    const value = fieldOf({ name, namespace, ...object }, path.split('.'));
    if (typeof value === 'string' && value !== '') return value;
    isComplete = false;
    return '';
  });
  return isComplete ? filled : undefined;
}

const fieldOf = (value: unknown, [first, ...rest]: readonly string[]): unknown =>
  first === undefined ? value : fieldOf(isRecord(value) ? value[first] : undefined, rest);

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null;
