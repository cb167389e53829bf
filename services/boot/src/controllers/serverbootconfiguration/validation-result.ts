import { isDeepStrictEqual } from 'node:util';
import type { ServerBootConfiguration } from '@metal/api/v1alpha1/server-boot-configuration.ts';
import type { Condition } from '@metal/kube/kinds/kind.ts';
import type { BootPlan } from '../../images/boot-plan.ts';
import type { BootError } from '../../errors.ts';
import type { BootServiceReason } from '../../reasons.ts';

/** What is to be said about a boot configuration. */
export type ValidationResult =
  | { readonly state: 'Ready'; readonly plan: BootPlan; readonly error?: never }
  /** Its image is being pulled. */
  | { readonly state: 'Pending'; readonly plan?: never; readonly error?: never }
  | { readonly state: 'Error'; readonly plan?: never; readonly error: BootError };

export const validationFailed = 'ValidationFailed' satisfies BootServiceReason;
const imagePulling = 'ImagePulling' satisfies BootServiceReason;
const imageValidation = 'ImageValidation';
/** By what the code of the error begins with; anything else is about the image. */
const validations: readonly [string, string][] = [
  ['Ignition', 'IgnitionValidation'],
  ['Script', 'ScriptValidation'],
];
const validationTypes = [imageValidation, ...validations.map(([, type]) => type)];

/** None when all is well: the conditions exist only as complaints, or to explain a wait. */
export function conditionsOf(
  boot: ServerBootConfiguration,
  { state, error }: ValidationResult,
  now: number,
): Condition[] {
  if (state === 'Ready') return [];
  const condition = {
    type: validations.find(([prefix]) => error?.code.startsWith(prefix))?.[1] ?? imageValidation,
    status: error === undefined ? ('Unknown' as const) : ('False' as const),
    reason: error === undefined ? imagePulling : validationFailed,
    // The reason is a word of v0.7.0; ours, which docs/errors.md explains, goes before the message.
    message:
      error === undefined
        ? `the files of "${boot.spec.image}" are being pulled from their registry`
        : `${error.code}: ${error.message}`.slice(0, 1_000),
  };
  const earlier = boot.status?.conditions?.find(
    ({ type, status }) => type === condition.type && status === condition.status,
  );
  const lastTransitionTime = earlier?.lastTransitionTime ?? new Date(now).toISOString();
  return [{ ...condition, lastTransitionTime, observedGeneration: boot.metadata.generation }];
}

export const preparedBy = ({ method, methods, script, image: { name, digest } }: BootPlan) => ({
  image: name,
  method,
  ...(methods.length === 1 ? {} : { methods: [...methods] }),
  ...(digest === undefined ? {} : { digest }),
  ...(script === undefined ? {} : { script }),
});

/** Another replica has it, or we had it before we started anew: no machine is sent away while we fetch it. */
const isReadyForIt = ({ spec, status }: ServerBootConfiguration): boolean =>
  status?.state === 'Ready' && (status.boot?.image ?? spec.image) === spec.image;

/** It was looked at as it is wished for now, and cannot be booted. That stands while it is looked at again. */
const isRejected = ({ metadata, status }: ServerBootConfiguration): boolean =>
  status?.state === 'Error' &&
  (status.conditions ?? []).some(
    ({ type, status: is, observedGeneration }) =>
      validationTypes.includes(type) && is === 'False' && observedGeneration === metadata.generation,
  );

/** What is known of it says more than that it is being pulled. */
export const isValidated = (boot: ServerBootConfiguration): boolean => isReadyForIt(boot) || isRejected(boot);

/** Pending by a boot service, and not by those who want it looked at. */
export const isBeingPulled = ({ status }: ServerBootConfiguration): boolean =>
  status?.state === 'Pending' && (status.conditions ?? []).some(({ reason }) => reason === imagePulling);

export function isReported(
  { status: now }: ServerBootConfiguration,
  wanted: NonNullable<ServerBootConfiguration['status']>,
): boolean {
  const reported = (now?.conditions ?? []).filter(({ type }) => validationTypes.includes(type));
  const { conditions = [], boot } = wanted;
  return (
    now?.state === wanted.state &&
    now?.boot?.image === boot?.image &&
    now?.boot?.digest === boot?.digest &&
    now?.boot?.method === boot?.method &&
    isDeepStrictEqual(now?.boot?.methods, boot?.methods) &&
    now?.boot?.script === boot?.script &&
    reported.length === conditions.length &&
    conditions.every(({ type, message }) =>
      reported.some((condition) => condition.type === type && condition.message === message),
    )
  );
}

export const isSameGeneration = (
  { metadata: one }: ServerBootConfiguration,
  { metadata: other }: ServerBootConfiguration,
): boolean => one.uid === other.uid && one.generation === other.generation;
