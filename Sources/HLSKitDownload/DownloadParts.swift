package import HLSKitLoading
package import HLSKitOutput

/// The numbered files that a download is written to instead of one file.
package struct DownloadParts: Sendable {
    package var limit: SplitWriter.Limit
    package var overwrite: Bool
    /// Returns the path of a file, given its number from 1, when the file is begun.
    package var path: @Sendable (_ number: Int) throws(HLSError) -> String

    package init(
        _ limit: SplitWriter.Limit, overwrite: Bool = false,
        path: @escaping @Sendable (_ number: Int) throws(HLSError) -> String
    ) {
        (self.limit, self.overwrite, self.path) = (limit, overwrite, path)
    }
}
