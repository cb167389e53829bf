import { isDeepStrictEqual } from 'node:util';
import { readinessTaintsAnnotation } from '@metal/api/wire/contract.ts';
import type { Server } from '@metal/api/v1alpha1/server.ts';
import type { ServerReadinessRule } from '@metal/api/v1alpha1/server-readiness-rule.ts';
import * as z from 'zod';
import {
  bootstrapAnnotationOf,
  hasCompletedBootstrap,
  isHeldBack,
  isSubject,
  selects,
  unmetCondition,
} from './readiness.ts';

export type Taint = NonNullable<Server['spec']['taints']>[number];

/** The changes of a server that give it the taints of all readiness rules together. */
export interface TaintPlan {
  readonly taints: readonly Taint[];
  /** Null removes the annotation. */
  readonly annotations: Readonly<Record<string, string | null>>;
  /** The added and removed taints, as sentences for the event. */
  readonly changes: readonly string[];
}

/**
 * Evaluates all rules at once, so that rules with the same taint do not undo one another:
 *
 *   a taint is added       while any rule in force holds the server back with it
 *   a taint is removed     when no rule requires it, and a rule added it or selects this server
 *   any other taint        is left as it is
 *
 * An annotation lists the taints that rules have added, so that they can be removed when the server leaves the selector or the rule
 * is deleted. Undefined when nothing has to change.
 */
export function taintPlanOf(server: Server, rules: readonly ServerReadinessRule[]): TaintPlan | undefined {
  const present = server.spec.taints ?? [];
  const wanted = new Map(
    rules.filter((rule) => isHeldBack(server, rule)).map(({ spec }) => [idOf(spec.taint), spec.taint]),
  );
  const released = new Set(
    [...ownedTaints(server), ...taintsOfSelectingRules(server, rules)].map(idOf).filter((id) => !wanted.has(id)),
  );
  const kept = present.filter((taint) => !released.has(idOf(taint)));
  const added = [...wanted.values()].filter((taint) => !present.some((other) => idOf(other) === idOf(taint)));
  const taints = [...kept, ...added];
  const annotations = annotationChanges(server, rules, [...wanted.values()]);
  if (isDeepStrictEqual(taints, present) && Object.keys(annotations).length === 0) return undefined;
  const removed = present.filter((taint) => released.has(idOf(taint)));
  return {
    taints,
    annotations,
    changes: [...added.map(describeAdded(server, rules)), ...removed.map(describeRemoved)],
  };
}

/**
 * Taints of the rules that select this server, whether they hold it back or not. An earlier release added taints without the
 * annotation; they are known by their rule, even while that is being deleted.
 */
const taintsOfSelectingRules = (server: Server, rules: readonly ServerReadinessRule[]): Taint[] =>
  rules
    .filter((rule) => selects(rule, server.metadata.labels ?? {}) && !hasCompletedBootstrap(server, rule))
    .map(({ spec }) => spec.taint);

function annotationChanges(
  server: Server,
  rules: readonly ServerReadinessRule[],
  owned: readonly Taint[],
): Record<string, string | null> {
  const desired: Record<string, string | null> = {
    [readinessTaintsAnnotation]: owned.length === 0 ? null : noteOf(owned),
    ...Object.fromEntries(rules.flatMap((rule) => bootstrapNote(server, rule))),
  };
  const present = server.metadata.annotations ?? {};
  return Object.fromEntries(Object.entries(desired).filter(([key, value]) => (present[key] ?? null) !== value));
}

/** A BootstrapOnly rule gets an annotation when it is satisfied first, and loses it when the rule is deleted. */
function bootstrapNote(server: Server, rule: ServerReadinessRule): [key: string, value: string | null][] {
  const { name, uid = '', deletionTimestamp } = rule.metadata;
  if (rule.spec.enforcementMode !== 'BootstrapOnly') return [];
  const completed = hasCompletedBootstrap(server, rule);
  if (deletionTimestamp !== undefined) return completed ? [[bootstrapAnnotationOf(name), null]] : [];
  const holds = isSubject(server, rule) && !completed && unmetCondition(server, rule) === undefined;
  return holds ? [[bootstrapAnnotationOf(name), uid]] : [];
}

const noted = z.array(
  z.object({ key: z.string(), value: z.string().optional(), effect: z.enum(['NoBind', 'Evict']).default('NoBind') }),
);

/** Taints that rules have added to the server. An annotation that cannot be parsed counts as empty. */
function ownedTaints({ metadata }: Server): Taint[] {
  try {
    const parsed = noted.safeParse(JSON.parse(metadata.annotations?.[readinessTaintsAnnotation] ?? '[]'));
    return parsed.success ? parsed.data : [];
  } catch {
    return [];
  }
}

const noteOf = (taints: readonly Taint[]): string =>
  JSON.stringify(
    taints
      .toSorted((a, b) => idOf(a).localeCompare(idOf(b), 'en'))
      .map(({ key, value, effect }) => ({ key, ...(value === undefined ? {} : { value }), effect })),
  );

const describeAdded =
  (server: Server, rules: readonly ServerReadinessRule[]) =>
  (taint: Taint): string => {
    const waiting = rules
      .filter((rule) => idOf(rule.spec.taint) === idOf(taint) && isHeldBack(server, rule))
      .map((rule) => `rule ${rule.metadata.name} wants ${unmetCondition(server, rule) ?? ''}`);
    return `taint ${textOf(taint)} is put on: ${waiting.join(', ')}`;
  };

const describeRemoved = (taint: Taint): string => `taint ${textOf(taint)} is taken off: no rule wants it any more`;

/** A taint is identified by key, value and effect; the default effect is NoBind. */
const idOf = ({ key, value, effect }: Taint): string => JSON.stringify([key, value ?? '', effect ?? 'NoBind']);
const textOf = ({ key, value, effect }: Taint): string => `${key}${value ? `=${value}` : ''}:${effect ?? 'NoBind'}`;
