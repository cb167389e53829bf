/** A file that is added to the ignition of one boot. */
export interface ExtraFile {
  readonly path: string;
  readonly text: string;
}

/** Ignition that runs the probe of the discovery image. The token is in a file, as every user can read the process list. */
export const builtInIgnition = (probeFlags: string, files: readonly ExtraFile[]): string =>
  JSON.stringify({
    ignition: { version: '3.2.0' },
    storage: {
      files: files.map(({ path, text }) => ({
        path,
        mode: 0o600,
        contents: { source: `data:,${encodeURIComponent(text)}` },
      })),
    },
    systemd: { units: [{ name: 'metalprobe.service', enabled: true, contents: unit(probeFlags) }] },
  });

const unit = (probeFlags: string): string => `[Unit]
Description=Reports the hardware of this machine
Wants=network-online.target
After=network-online.target
[Service]
Restart=on-failure
RestartSec=20
ExecStart=/usr/bin/metalprobe ${probeFlags}
[Install]
WantedBy=multi-user.target
`;
