import { createServer } from 'node:http';

/** Serves one file by HTTP, at each path. @returns its URL */
export async function serveBytes(bytes: Uint8Array, stack: AsyncDisposableStack): Promise<string> {
  const server = createServer(({ method }, response) => {
    response.writeHead(200, { 'content-length': bytes.length, 'content-type': 'application/octet-stream' });
    response.end(method === 'HEAD' ? undefined : bytes);
  });
  await new Promise<void>((resolve, reject) => server.once('error', reject).listen(0, '127.0.0.1', resolve));
  stack.defer(() => {
    server.close();
    server.closeAllConnections();
  });
  const address = server.address();
  return `http://127.0.0.1:${typeof address === 'object' && address !== null ? address.port : 0}/image.bin`;
}
