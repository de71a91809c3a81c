/// The name and the version of the command, which is the version of the library too.
package enum CommandInfo {
    package static let version = "1.0.0"
    /// Begins each line that says why a command failed.
    package static let errorLabel = "hlsget: error"
}
