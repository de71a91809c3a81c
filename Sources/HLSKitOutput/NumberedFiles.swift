/// A writer that can write several files.
package protocol NumberedFiles: MediaWriter {
    /// The files that were begun. The first is the requested one.
    var paths: [String] { get }
    /// The completed files, under their final names. A file without media is not included.
    var finishedPaths: [String] { get }
}
