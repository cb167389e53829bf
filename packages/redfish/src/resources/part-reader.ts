import { RedfishError, type RedfishErrorCode } from '../errors.ts';
import type { OnUnreadable } from './members.ts';

/** A resource that could not be read while the BMC answered. */
export interface MissingPart {
  /** Of what it is a part, in words. */
  readonly part: string;
  readonly path: string;
  /** One member of the part; otherwise the part as a whole. */
  readonly isMember: boolean;
  readonly code: RedfishErrorCode;
  /** HTTP status, where there was an answer. */
  readonly status: number | undefined;
  readonly reason: string;
}

/** Reads parts one by one. What the BMC cannot give is noted, and the rest is given; what breaks the conversation is thrown. */
export class PartReader {
  readonly #missing: MissingPart[] = [];

  /** In the order of the paths, which is the same from time to time. */
  get missing(): MissingPart[] {
    return this.#missing.toSorted((a, b) => (a.path < b.path ? -1 : 1));
  }

  /** Nothing where the BMC names no path. */
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

/** What is said of a member of the part that could not be read. */
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
