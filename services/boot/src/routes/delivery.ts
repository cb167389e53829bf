import type { ServerBootConfiguration } from '@metal/api/v1alpha1/server-boot-configuration.ts';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { BootImage } from '../images/boot-plan.ts';
import { type BootImages, preparedDigestOf } from '../images/images.ts';

export const getOrHead: ('GET' | 'HEAD')[] = ['GET', 'HEAD'];

/** The image with the digest that was prepared, whatever its tag refers to now. */
export const imageOf = (boot: ServerBootConfiguration, images: BootImages): Promise<BootImage> =>
  images.resolve(boot.spec.image, { digest: preparedDigestOf(boot) });

/** Calls back when the file was sent to its end: all of it, or its last part. */
export function onceDelivered({ method }: FastifyRequest, { raw }: FastifyReply, callback: () => void): void {
  if (method !== 'GET') return;
  raw.once('finish', () => {
    const [, last, size] = /^bytes \d+-(\d+)\/(\d+)$/.exec(String(raw.getHeader('content-range'))) ?? [];
    const isEnd = raw.statusCode === 206 && Number(last) + 1 === Number(size);
    if (raw.statusCode === 200 || isEnd) callback();
  });
}
