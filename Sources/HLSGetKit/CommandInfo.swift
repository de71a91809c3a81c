/// The name and the version of the command. The library has the same version.
package enum CommandInfo {
    package static let version = "1.0.0"
    package static let errorLabel = "hlsget: error"
}
