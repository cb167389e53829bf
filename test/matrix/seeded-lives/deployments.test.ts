import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { ServerBootConfiguration } from '@metal/api/v1alpha1/server-boot-configuration.ts';
import { mbrImage } from '@metal/probe/test/disk-fixture.ts';
import { simulated } from '@metal/testenv/fleet/simulated.ts';
import type { LifeRun } from '@metal/testenv/operator/life-run.ts';
import { testLives } from '@metal/testenv/operator/lives.ts';
import { testenvsOfFile } from '@metal/testenv/testenv.ts';

const disk = 'nvme1n1';
const image = mbrImage();

const isRecorded = ({ server }: LifeRun): boolean => server.now?.status?.provisionedClaimUID !== undefined;

testLives(testenvsOfFile(), {
  outcome: 'serves the claim from its disk',
  environment: {
    stepMs: 300,
    flags: ({ url }) => [
      `--allowed-image-origins=${url}`,
      '--refused-image-networks=192.0.2.0/24',
      '--power-polling-interval=1s',
    ],
  },
  lives: [
    {
      title: 'a claim with a disk image',
      begin: (run) => run.becomesAvailable(),
      live: async (run) => {
        const { testenv, node } = run;
        const { disks } = simulated(node);
        let recordedWrites: number | undefined;
        using _writes = testenv.servers.onChange(() => {
          if (isRecorded(run)) recordedWrites ??= disks.writesTo(disk);
        });
        const claim = await testenv.claim({ image: '', diskImage: served(run), on: node, name: run.claimName });
        await claim.watched.hasCondition('Ready', 'True');
        await testenv.machine(node).until('runs from its disk', () => node.running?.from === 'disk');
        assert.equal(disks.writesTo(disk), recordedWrites, 'nothing is written after the result is recorded');
      },
      verify: async ({ testenv, node, claimName: name }) => {
        const { disks } = simulated(node);
        assert.ok(disks.read(disk, 0, image.length).equals(image));
        assert.equal(disks.writesTo('nvme0n1'), 0);
        const { status } = await testenv.client.get(ServerBootConfiguration, { namespace: 'default', name });
        assert.equal(status?.deployment?.state, 'Succeeded');
      },
      faultPoints: {
        'the boot of the agent exists': ({ server: { now } }) =>
          now !== undefined && now.spec.bootConfigurationRef?.name === now.metadata.name,
        'the agent runs': ({ node }) => node.running?.role === 'deployer',
        'the image is on the disk': ({ node }) => simulated(node).installed !== undefined,
        'the result is recorded': isRecorded,
      },
    },
  ],
});

const served = ({ images }: LifeRun) => ({
  url: images.serve('os.img', image),
  checksum: createHash('sha256').update(image).digest('hex'),
  format: 'raw' as const,
  rootDeviceHints: { deviceName: `/dev/${disk}` },
});
