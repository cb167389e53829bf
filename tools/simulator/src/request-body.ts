import type { IncomingMessage } from 'node:http';

const largestRequestBytes = 1024 * 1024;

/** @throws when the body is larger than any Redfish request. */
export async function readWhole(request: IncomingMessage): Promise<string> {
  if (request.method === 'GET' || request.method === 'HEAD') {
    request.resume();
    return '';
  }
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of request) {
    const bytes = Buffer.from(chunk);
    length += bytes.length;
    if (length > largestRequestBytes) throw new Error(`the body is larger than ${largestRequestBytes} bytes`);
    chunks.push(bytes);
  }
  return Buffer.concat(chunks).toString('utf8');
}

/** Undefined for an empty text, an error for one that is no JSON. */
export function readJson(text: string): unknown {
  try {
    return text.trim() === '' ? undefined : JSON.parse(text);
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error));
  }
}
