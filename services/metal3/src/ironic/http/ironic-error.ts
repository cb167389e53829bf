import * as z from 'zod';

/** Ironic rejected a request, or there was no answer. The message has its text, and no credentials. */
export class IronicError extends Error {
  /** Of HTTP; undefined without an answer. */
  readonly status: number | undefined;

  constructor(message: string, { status, cause }: { status?: number; cause?: unknown } = {}) {
    super(message, cause === undefined ? undefined : { cause });
    this.status = status;
  }
}

/** Another request holds the lock of the node, or its state is changing. */
export const isLocked = (error: unknown): error is IronicError => error instanceof IronicError && error.status === 409;

/** The text of a refusal of Ironic that may end, for people; undefined for a lock, which ends by itself in seconds. */
export const conflictOf = ({ message }: Error): string | undefined =>
  /\block(ed)?\b/i.test(message) ? undefined : message;

const fault = z.object({
  faultstring: z.string().optional(),
  description: z.string().optional(),
});
const errorBody = z.object({ error_message: z.unknown() });

/** The text for people in the body of an error: an object, or JSON in a text. Bodies of proxies are shortened. */
export function textOfError(body: string): string {
  const outer = errorBody.safeParse(parsed(body));
  const inner = outer.success ? outer.data.error_message : parsed(body);
  const found = fault.safeParse(typeof inner === 'string' ? parsed(inner) : inner);
  const text = found.success ? (found.data.faultstring ?? found.data.description) : undefined;
  return (text ?? (typeof inner === 'string' ? inner : body)).slice(0, 1_000);
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
