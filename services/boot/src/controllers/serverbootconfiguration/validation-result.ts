import { withoutControlCharacters } from '@metal/kube/runtime/printable.ts';
import { isDeepStrictEqual } from 'node:util';
import type { ServerBootConfiguration } from '@metal/api/v1alpha1/server-boot-configuration.ts';
import { isPrepared } from '@metal/api/wire/prepared-boot.ts';
import type { Condition } from '@metal/kube/kinds/kind.ts';
import type { MeasuredDiskImage } from '../../images/disk/disk-images.ts';
import type { BootPlan } from '../../images/boot-plan.ts';
import type { BootError } from '../../errors.ts';
import type { BootServiceReason } from '../../reasons.ts';

/** The result of validating a boot configuration. */
export type ValidationResult =
  | { readonly state: 'Ready'; readonly plan: BootPlan; readonly diskImage?: never; readonly error?: never }
  | { readonly state: 'Ready'; readonly plan?: never; readonly diskImage: MeasuredDiskImage; readonly error?: never }
  /** Its image is being pulled. */
  | { readonly state: 'Pending'; readonly plan?: never; readonly diskImage?: never; readonly error?: never }
  | { readonly state: 'Error'; readonly plan?: never; readonly diskImage?: never; readonly error: BootError };

export const validationFailed = 'ValidationFailed' satisfies BootServiceReason;
const imagePulling = 'ImagePulling' satisfies BootServiceReason;
const imageValidation = 'ImageValidation';
/** By the prefix of the error code; other errors concern the image. */
const validations: readonly [string, string][] = [
  ['Ignition', 'IgnitionValidation'],
  ['Script', 'ScriptValidation'],
  ['ConfigDrive', 'ConfigDriveValidation'],
];
const validationTypes = [imageValidation, ...validations.map(([, type]) => type)];

/** Ready has no condition: they report an error or explain a wait. */
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
    // The reason is that of v0.7.0; the error code, which docs/errors.md explains, precedes the message.
    message: error === undefined ? pullingMessage(boot) : `${error.code}: ${error.message}`.slice(0, 1_000),
  };
  const earlier = boot.status?.conditions?.find(
    ({ type, status }) => type === condition.type && status === condition.status,
  );
  const lastTransitionTime = earlier?.lastTransitionTime ?? new Date(now).toISOString();
  return [{ ...condition, lastTransitionTime, observedGeneration: boot.metadata.generation }];
}

/** Names of images are free text, and a message has 160 characters. */
const mostOfName = 100;

const pullingMessage = ({ spec: { image, diskImage } }: ServerBootConfiguration): string =>
  diskImage === undefined
    ? `the files of "${withoutControlCharacters(image ?? '').slice(0, mostOfName)}" are being pulled from their registry`
    : 'the disk image is being fetched and verified';

export const preparedBy = ({ method, methods, script, image: { name, digest } }: BootPlan) => ({
  image: name,
  method,
  ...(methods.length === 1 ? {} : { methods: [...methods] }),
  ...(digest === undefined ? {} : { digest }),
  ...(script === undefined ? {} : { script }),
});

/** The current generation was rejected. The state stays Error during another validation. */
const isRejected = ({ metadata, status }: ServerBootConfiguration): boolean =>
  status?.state === 'Error' &&
  (status.conditions ?? []).some(
    ({ type, status: is, observedGeneration }) =>
      validationTypes.includes(type) && is === 'False' && observedGeneration === metadata.generation,
  );

/**
 * It has a result, which Pending would hide. Another replica has the image, or an earlier process had it: the state stays Ready
 * during the pull.
 */
export const isValidated = (boot: ServerBootConfiguration): boolean => isPrepared(boot) || isRejected(boot);

/** A boot service wrote Pending, and not the operator. */
export const isBeingPulled = ({ status }: ServerBootConfiguration): boolean =>
  status?.state === 'Pending' && (status.conditions ?? []).some(({ reason }) => reason === imagePulling);

export function isReported(
  { status: now }: ServerBootConfiguration,
  wanted: NonNullable<ServerBootConfiguration['status']>,
): boolean {
  const reported = (now?.conditions ?? []).filter(({ type }) => validationTypes.includes(type));
  const { conditions = [], boot, diskImage } = wanted;
  return (
    now?.state === wanted.state &&
    now?.boot?.image === boot?.image &&
    now?.boot?.digest === boot?.digest &&
    now?.boot?.method === boot?.method &&
    isDeepStrictEqual(now?.boot?.methods, boot?.methods) &&
    now?.boot?.script === boot?.script &&
    isDeepStrictEqual(now?.diskImage, diskImage) &&
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
