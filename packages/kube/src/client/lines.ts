const newline = 0x0a;

/**
 * Splits a stream into lines and parses each as JSON. A line may arrive in any number of chunks: each byte is scanned once
 * and copied once.
 */
export async function* linesOf<T>(body: AsyncIterable<Buffer>): AsyncGenerator<T> {
  let begun: Buffer[] = [];
  for await (const chunk of body) {
    let start = 0;
    for (let end = chunk.indexOf(newline); end >= 0; end = chunk.indexOf(newline, start)) {
      const piece = chunk.subarray(start, end);
      const line = begun.length === 0 ? piece : Buffer.concat([...begun, piece]);
      begun = [];
      start = end + 1;
      // One event per line is the watch protocol of the API server.
      yield JSON.parse(line.toString('utf8')) as T;
    }
    if (start < chunk.length) begun.push(chunk.subarray(start));
  }
}
