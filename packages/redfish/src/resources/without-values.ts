import { RedfishError } from '../errors.ts';

/** Shorter texts are words of the message rather than values, and no secrets. */
const shortest = 4;

/**
 * Sends a body whose values may be secrets: a BMC that rejects a value quotes it in its explanation, which would be in
 * conditions and logs. The name of the property stays.
 */
export async function withoutValues<T>(body: object, send: () => Promise<T>): Promise<T> {
  try {
    return await send();
  } catch (error) {
    if (!(error instanceof RedfishError)) throw error;
    const message = redacted(error.message, textsIn(body));
    if (message === error.message) throw error;
    const { code, status, retryAfterMs, messageIds } = error;
    throw new RedfishError({ code, message, status, retryAfterMs, messageIds });
  }
}

function textsIn(value: unknown): string[] {
  if (typeof value === 'string') return [value, JSON.stringify(value).slice(1, -1)];
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(textsIn) : [];
}

function redacted(message: string, values: readonly string[]): string {
  const secrets = values.filter((value) => value.length >= shortest).toSorted((a, b) => b.length - a.length);
  const whole = secrets.reduce((text, value) => text.replaceAll(value, '***'), message);
  return secrets.reduce(redactedEnd, whole);
}

/** A long explanation is cut, possibly inside of a value. */
function redactedEnd(message: string, value: string): string {
  const end = message.endsWith('…') ? message.length - 1 : undefined;
  if (end === undefined) return message;
  for (let length = Math.min(value.length - 1, end); length >= shortest; length -= 1)
    if (message.slice(end - length, end) === value.slice(0, length)) return `${message.slice(0, end - length)}***…`;
  return message;
}
