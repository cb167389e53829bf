import * as z from 'zod';
import type { FirmwareComponentState } from '../../provisioner/node-services.ts';

const text = z.string().nullish();

/** The answer of Ironic to `GET /v1/nodes/<id>/firmware`. */
export const firmwareComponents = z.object({
  firmware: z.array(
    z.object({
      component: z.string(),
      initial_version: text,
      current_version: text,
      last_version_flashed: text,
      updated_at: text,
    }),
  ),
});

export const componentsOf = ({ firmware }: z.output<typeof firmwareComponents>): FirmwareComponentState[] =>
  firmware.map((found) => ({
    component: found.component,
    initialVersion: found.initial_version ?? '',
    currentVersion: found.current_version ?? undefined,
    lastVersionFlashed: found.last_version_flashed ?? undefined,
    updatedAt: found.updated_at ?? undefined,
  }));
