/// Web Authentication (W3C, level 3): what relying parties want, and what authenticators answer.
public enum WebAuthn {}
