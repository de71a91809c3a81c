/// A writer that may write more than one file.
package protocol NumberedFiles: MediaWriter {
    /// The files that were begun, the one that was asked for first.
    var paths: [String] { get }
    /// The files that are finished and have their names. One to which nothing was written is not there.
    var finishedPaths: [String] { get }
}
