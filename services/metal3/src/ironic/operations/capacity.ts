import * as z from 'zod';
import { type IronicPass, nodeName } from '../ironic-pass.ts';
import { IronicError } from '../http/ironic-error.ts';
import type { NodeApi } from '../node/node-api.ts';

const entry = z.object({
  uuid: z.string(),
  name: z.string().nullish(),
  provision_state: z.string(),
  boot_interface: z.string().nullish(),
});
type Entry = z.output<typeof entry>;
const page = z.object({ nodes: z.array(entry), next: z.string().nullish() });

const busyStates: readonly string[] = [
  'cleaning',
  'clean wait',
  'inspecting',
  'inspect wait',
  'deploying',
  'wait call-back',
  'deleting',
];
const mostPages = 1_000;

/** Ironic may work on this host too. Machines that load their ramdisk from virtual media do not count. */
export async function hasCapacity(pass: IronicPass): Promise<boolean> {
  if (pass.address.driver.bootsIso) return true;
  const busy = (await allNodes(pass.session.api)).filter(isBusy);
  const name = nodeName(pass.access.host);
  return busy.length < pass.options.provisioningLimit || busy.some((each) => each.name === name);
}

const isBusy = ({ provision_state: state, boot_interface: boot }: Entry): boolean =>
  busyStates.includes(state) && !(boot ?? '').includes('virtual-media');

async function allNodes(api: NodeApi): Promise<Entry[]> {
  const fields = 'fields=uuid,name,provision_state,boot_interface';
  const nodes: Entry[] = [];
  let query: string | undefined = fields;
  for (let count = 0; query !== undefined && count < mostPages; count += 1) {
    const { nodes: found, next }: z.output<typeof page> = await api.read(page, {
      method: 'GET',
      path: `nodes?${query}`,
    });
    nodes.push(...found);
    query =
      next === null || next === undefined || next === '' ? undefined : new URL(next, 'http://ironic').search.slice(1);
  }
  if (query === undefined) return nodes;
  throw new IronicError(`Ironic lists more than ${mostPages} pages of nodes`);
}
