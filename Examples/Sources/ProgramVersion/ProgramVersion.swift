/// Which version the programs are.
public enum ProgramVersion {
    /// The version of the present release, or of the first one to come; the newest in the changelog.
    public static let current = "0.1.0"
}
