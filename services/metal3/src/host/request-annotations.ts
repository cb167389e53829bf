import { detachedAnnotation, rebootAnnotation } from '@metal/api/metal3/metal3-contract.ts';

export type Annotations = Readonly<Record<string, string>>;

/** All reboot annotations of a host together. */
export interface RebootRequest {
  /** hard if one of them asks for it. */
  readonly mode: 'hard' | 'soft';
  /** One of them may interrupt what the host does. */
  readonly isForced: boolean;
  /** The annotation without the name of a client, which is removed when the host is off. */
  readonly isOneShot: boolean;
  /** Keys with text that is not understood: soft. */
  readonly invalid: readonly string[];
}

/** Undefined without a request; `onlyForced` leaves out those that may interrupt nothing. */
export function rebootRequest(annotations: Annotations, onlyForced = false): RebootRequest | undefined {
  const requests = Object.entries(annotations)
    .filter(([key]) => key === rebootAnnotation || key.startsWith(`${rebootAnnotation}/`))
    .map(([key, text]) => ({ key, ...parseReboot(text) }))
    .filter(({ isForced }) => isForced || !onlyForced);
  if (requests.length === 0) return undefined;
  return {
    mode: requests.some(({ mode }) => mode === 'hard') ? 'hard' : 'soft',
    isForced: requests.some(({ isForced }) => isForced),
    isOneShot: requests.some(({ key }) => key === rebootAnnotation),
    invalid: requests.filter(({ isValid }) => !isValid).map(({ key }) => key),
  };
}

interface ParsedReboot {
  readonly mode: 'hard' | 'soft';
  readonly isForced: boolean;
  readonly isValid: boolean;
}

function parseReboot(text: string): ParsedReboot {
  const members = text === '' ? {} : parseObject(text);
  const { mode = '', force = false } = members ?? {};
  const isKnownMode = mode === 'hard' || mode === 'soft' || mode === '';
  if (members === undefined || !isKnownMode || typeof force !== 'boolean')
    return { mode: 'soft', isForced: false, isValid: false };
  return { mode: mode === 'hard' ? 'hard' : 'soft', isForced: force, isValid: true };
}

/** A host whose node is to be removed from Ironic while the object stays. */
export interface DetachRequest {
  /** Effect on a deletion of the host meanwhile. */
  readonly deleteAction: 'delay' | 'delete';
  readonly isForced: boolean;
  /** The text is not understood, so that only its presence counts. */
  readonly isInvalid: boolean;
}

export function detachRequest(annotations: Annotations): DetachRequest | undefined {
  const text = annotations[detachedAnnotation];
  if (text === undefined) return undefined;
  const members = parseObject(text);
  const { deleteAction, force } = members ?? {};
  return {
    deleteAction: deleteAction === 'delay' ? 'delay' : 'delete',
    isForced: force === true,
    isInvalid: members === undefined,
  };
}

function parseObject(text: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : undefined;
  } catch {
    return undefined;
  }
}
