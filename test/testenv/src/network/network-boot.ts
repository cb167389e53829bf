import { once } from 'node:events';
import { get, type IncomingMessage } from 'node:http';
import { text } from 'node:stream/consumers';
import { ProcessUsage } from '@metal/process/process-usage.ts';
import { type OperatorProcess, startOperatorProcess } from '@metal/project/operator-process.ts';

/** The boot service as a separate process whose memory can be measured. */
export interface BootProcess extends AsyncDisposable {
  readonly url: string;
  readonly log: OperatorProcess['log'];
  /** Its peak memory, as counted by the kernel. */
  peakBytes(): Promise<number>;
  /** Processor time it has used so far. */
  cpuSeconds(): Promise<number>;
}

export async function startBootProcess(kubeconfigPath: string, flags: readonly string[]): Promise<BootProcess> {
  const here = 'http://127.0.0.1';
  const operator = await startOperatorProcess({
    flags: [
      `--kubeconfig=${kubeconfigPath}`,
      '--components=boot',
      '--boot-port=0',
      `--boot-url=${here}`,
      `--registry-url=${here}`,
      '--metrics-bind-address=0',
      '--health-probe-bind-address=0',
      ...flags,
    ],
  });
  const usage = new ProcessUsage(operator.pid);
  return {
    url: operator.bootUrl,
    log: operator.log,
    peakBytes: () => usage.peakBytes(),
    cpuSeconds: () => usage.cpuSeconds(),
    [Symbol.asyncDispose]: () => operator[Symbol.asyncDispose](),
  };
}

/** A machine as the boot service sees it. */
export interface NetworkMachine {
  readonly uuid: string;
  /** Its source address; any of 127.0.0.0/8. */
  readonly address?: string;
}

/** Downloads of a firmware, in order: the size of each file of its script, and of the ignition if there is one. */
export async function bootOverNetwork(url: string, machine: NetworkMachine): Promise<Record<string, number>> {
  const loaded: Record<string, number> = {};
  for (const file of await filesOfScript(url, machine))
    loaded[file.replace(/^.*\//, '')] = await sizeOf(file, machine.address);
  return loaded;
}

/** URLs of kernel, initrd and ignition in the script of the machine. */
export async function filesOfScript(url: string, { uuid, address }: NetworkMachine): Promise<string[]> {
  const script = await text(await fetchUrl(`${url}/ipxe/${uuid}`, address));
  const files = [/^kernel (\S+)/m, /^initrd (\S+)/m, /ignition\.config\.url=(\S+)/].flatMap(
    (pattern) => pattern.exec(script)?.[1] ?? [],
  );
  if (files.length < 2) throw new Error(`expected a script that loads a kernel and an initrd; got ${script}`);
  return files;
}

async function sizeOf(url: string, address: string | undefined): Promise<number> {
  let bytes = 0;
  for await (const chunk of await fetchUrl(url, address)) bytes += (chunk as Buffer).length; // no encoding was set
  return bytes;
}

/** Over a connection of its own, like firmware. */
async function fetchUrl(url: string, localAddress: string | undefined): Promise<IncomingMessage> {
  const request = get(url, { agent: false, ...(localAddress === undefined ? {} : { localAddress }) });
  const [response] = (await once(request, 'response')) as [IncomingMessage]; // what the event carries
  if (response.statusCode !== 200) throw new Error(`${url} answers ${response.statusCode}: ${await text(response)}`);
  return response;
}
