/** Configuration of the back end for Ironic. Defaults and environment variables are those of the caller. */
export interface IronicOptions {
  /** URL of the API, with or without `/v1/`. */
  readonly endpoint: string;
  /** Directory with the files `username` and `password`. Without the option or the directory: no authentication. */
  readonly loginDirectory: string | undefined;
  readonly tls: IronicTls;
  /** Of one request, from the connection to the end of the response. */
  readonly timeoutMs: number;
  /** For this long, Ironic counts as ready without another request. */
  readonly readyForMs: number;
  readonly ramdisk: Ramdisk;
  /** PreprovisioningImages decide about the ramdisk. */
  readonly usesPreprovisioningImages: boolean;
  /** Hosts that Ironic works on at the same time, except those that boot from virtual media or by HTTP. */
  readonly provisioningLimit: number;
  /** Drivers that need DHCP and PXE are rejected. */
  readonly isProvisioningNetworkDisabled: boolean;
  readonly persistentBoot: { readonly liveIso: PersistentBoot; readonly disk: PersistentBoot };
  /** URL of the images for BMCs with an IPv6 address. */
  readonly externalUrlV6: string | undefined;
}

/** Files that do not exist are not used. */
export interface IronicTls {
  readonly caFile: string | undefined;
  readonly certificateFile: string | undefined;
  readonly keyFile: string | undefined;
  /** The certificate of Ironic is not verified. */
  readonly isInsecure: boolean;
  /** The certificate of Ironic may be for another name. */
  readonly skipsNameVerification: boolean;
}

/** The ramdisk of every host without a PreprovisioningImage. Without any URL that of Ironic's own configuration. */
export interface Ramdisk {
  readonly kernelUrl: string | undefined;
  readonly initrdUrl: string | undefined;
  readonly isoUrl: string | undefined;
}

/** `force_persistent_boot_device` of Ironic. */
export type PersistentBoot = 'Default' | 'Always' | 'Never';
