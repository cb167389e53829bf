import { RedfishError, type RedfishErrorCode } from '../errors.ts';
import type { OnUnreadable } from './members.ts';

/** A resource that could not be read although the BMC answered. */
export interface MissingPart {
  /** The part of the inventory, as text. */
  readonly part: string;
  readonly path: string;
  /** True for one member of the part, false for the part as a whole. */
  readonly isMember: boolean;
  readonly code: RedfishErrorCode;
  /** HTTP status, when there was a response. */
  readonly status: number | undefined;
  readonly reason: string;
}

/** Reads the parts of an inventory and records the unreadable ones. Errors that concern the whole BMC are thrown. */
export class PartReader {
  readonly #missing: MissingPart[] = [];

  /** In the order of the paths, so that two reads compare equal. */
  get missing(): MissingPart[] {
    return this.#missing.toSorted((a, b) => (a.path < b.path ? -1 : 1));
  }

  /** Empty when the BMC has no path for the part. */
  async read<T>(
    part: string,
    path: string | undefined,
    read: (path: string, onUnreadable: OnUnreadable) => Promise<T[]>,
  ): Promise<T[]> {
    if (path === undefined) return [];
    try {
      return await read(path, (unreadable) => this.#missing.push(missingMember(part, unreadable)));
    } catch (error) {
      if (!(error instanceof RedfishError) || !concernsOnePart(error)) throw error;
      this.#missing.push({ ...missingMember(part, { path, error }), isMember: false });
      return [];
    }
  }
}

/** The record of an unreadable member. */
export const missingMember = (part: string, { path, error }: Parameters<OnUnreadable>[0]): MissingPart => ({
  part,
  path,
  isMember: true,
  code: error.code,
  status: error.status,
  reason: error.message,
});

const concernsOnePart = ({ code }: RedfishError): boolean =>
  ['NotFound', 'NotSupported', 'BadAnswer', 'HttpError', 'Forbidden', 'Busy'].includes(code);
