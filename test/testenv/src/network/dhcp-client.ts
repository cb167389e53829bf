import { createSocket } from 'node:dgram';

/**
 * A DHCP client like firmware, without an interface of its own: it sends the given requests and returns the answers.
 * Run as a program (in the network namespace of a client) with a JSON list of requests; prints the list of answers.
 */
export interface DhcpClientSpec {
  readonly mac: string;
  /** Option 60. */
  readonly vendorClass?: string;
  /** Option 77. */
  readonly userClass?: string;
  /** Option 93. */
  readonly architecture?: number;
  /** Accept the offered address, too. */
  readonly acceptsOffer?: boolean;
}

export interface DhcpReply {
  readonly ip: string;
  /** Address of the TFTP server. */
  readonly nextServer: string;
  /** Option 67, or the field of BOOTP. */
  readonly bootFile: string | undefined;
  readonly vendorClass: string | undefined;
  readonly router: string | undefined;
  readonly netmask: string | undefined;
}

const cookie = Buffer.from([0x63, 0x82, 0x53, 0x63]);
const wantedOptions = [1, 3, 6, 43, 60, 66, 67];
const timeoutMs = 20_000;

type Options = ReadonlyMap<number, Buffer>;

function encodeMessage(
  id: number,
  spec: DhcpClientSpec,
  type: number,
  more: readonly (readonly [number, Buffer])[],
): Buffer {
  const header = Buffer.alloc(236);
  header.set([1, 1, 6, 0]);
  header.writeUInt32BE(id, 4);
  // Answers are broadcast: this client has no address.
  header.writeUInt16BE(0x8000, 10);
  header.set(Buffer.from(spec.mac.replaceAll(':', ''), 'hex'), 28);
  const options: (readonly [number, Buffer])[] = [
    [53, Buffer.from([type])],
    [55, Buffer.from(wantedOptions)],
    [57, Buffer.from([5, 220])],
    ...more,
    ...(spec.vendorClass === undefined ? [] : [[60, Buffer.from(spec.vendorClass)] as const]),
    ...(spec.userClass === undefined ? [] : [[77, Buffer.from(spec.userClass)] as const]),
    ...(spec.architecture === undefined ? [] : [[93, Buffer.from([0, spec.architecture])] as const]),
  ];
  const bodies = options.map(([code, value]) => Buffer.concat([Buffer.from([code, value.length]), value]));
  return Buffer.concat([header, cookie, ...bodies, Buffer.from([255])]);
}

function optionsOf(message: Buffer): Options {
  const options = new Map<number, Buffer>();
  for (let at = 240; at < message.length && message[at] !== 255; ) {
    const code = message[at] ?? 255;
    const length = code === 0 ? -1 : (message[at + 1] ?? 0);
    if (code !== 0) options.set(code, message.subarray(at + 2, at + 2 + length));
    at += 2 + length;
  }
  return options;
}

const text = (bytes: Buffer | undefined): string | undefined => bytes?.toString('latin1').replace(/\0.*$/s, '');
const address = (bytes: Buffer | undefined): string | undefined => bytes && [...bytes.subarray(0, 4)].join('.');

function parseReply(message: Buffer, options: Options): DhcpReply {
  const field = text(message.subarray(108, 236));
  return {
    ip: address(message.subarray(16, 20)) ?? '',
    nextServer: address(message.subarray(20, 24)) ?? '',
    bootFile: text(options.get(67)) ?? (field === '' ? undefined : field),
    vendorClass: text(options.get(60)),
    router: address(options.get(3)),
    netmask: address(options.get(1)),
  };
}

/**
 * Sends the requests in the given order. Complete when the last one is answered and every accepted offer has its
 * address; a request without an answer until then counts as unanswered.
 */
async function sendAll(specs: readonly DhcpClientSpec[]): Promise<(DhcpReply | undefined)[]> {
  const socket = createSocket({ type: 'udp4', reuseAddr: true });
  const replies: (DhcpReply | undefined)[] = specs.map(() => undefined);
  const { promise, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, timeoutMs);
  const accepting = new Set<number>();
  const send = (message: Buffer) => socket.send(message, 67, '255.255.255.255');
  socket.on('message', (message) => {
    const index = message.readUInt32BE(4) - 1_000;
    const spec = specs[index];
    if (message[0] !== 2 || spec === undefined) return;
    const options = optionsOf(message);
    const isOffer = options.get(53)?.[0] === 2;
    if (isOffer && spec.acceptsOffer === true) {
      const server = options.get(54) ?? Buffer.alloc(4);
      accepting.add(index);
      send(
        encodeMessage(1_000 + index, spec, 3, [
          [50, message.subarray(16, 20)],
          [54, server],
        ]),
      );
      return;
    }
    replies[index] = parseReply(message, options);
    accepting.delete(index);
    if (replies.at(-1) !== undefined && accepting.size === 0) resolve();
  });
  socket.bind(68, () => {
    socket.setBroadcast(true);
    specs.forEach((spec, index) => send(encodeMessage(1_000 + index, spec, 1, [])));
  });
  await promise;
  clearTimeout(timer);
  socket.close();
  return replies;
}

if (process.argv[1]?.endsWith('dhcp-client.ts') === true) {
  // Written by `DhcpNetwork`.
  const specs = JSON.parse(process.argv[2] ?? '[]') as DhcpClientSpec[];
  const replies = await sendAll(specs);
  process.stdout.write(JSON.stringify(replies.map((reply) => reply ?? null)));
}
