import HLSKitAsset
import HLSKitLoading
import HLSKitPlaylist
import HLSKitTime

/// A download whose URL has run out, and what it knew then.
struct ExpiredDownload: Error {
    var error: HLSError
    var status: Int
    /// Missing segments of a live stream, which nobody lists any more.
    var gaps: [DownloadGap] = []
    /// nil where it ran out before there was a list.
    var window: TimeWindow?
    /// Of the runs before this program was started.
    var resumedSegmentCount = 0
}

/// URLs that run out in the middle of a download: the program is asked for a fresh one, and the download goes on from there
/// with what is not stored yet, as another run of it would.
extension DownloadTask {
    /// Whether a failure says that the URL has run out, and there is somebody to ask for another.
    func isExpired(_ error: HLSError) -> Bool {
        configuration.loading.hooks.urlRefresher != nil && (error.statusCode == 403 || error.statusCode == 410)
    }

    /// - Parameter run: nil where nothing was loaded yet.
    func expired(_ error: HLSError, _ run: DownloadRun?) -> ExpiredDownload? {
        guard isExpired(error), let status = error.statusCode else { return nil }
        guard let run else { return ExpiredDownload(error: error, status: status) }
        return ExpiredDownload(
            error: error, status: status, gaps: run.beganLive ? run.result.gaps : [], window: run.window,
            resumedSegmentCount: run.result.resumedSegmentCount)
    }

    /// The URL to go on with.
    ///
    /// - Throws: the failure that was the reason, with why there is no other URL.
    func freshURL(insteadOf expired: ExpiredDownload) async throws -> String {
        guard let refresher = configuration.loading.hooks.urlRefresher else { throw expired.error }
        let url = expired.error.fullURL ?? currentURL
        let question = ExpiredURL(itemURL: currentURL, url: url, status: expired.status)
        do {
            return try await UserCall(clock: configuration.loading.clock).value(
                of: "the URL refresher", url: url, within: refresher.deadline
            ) { try await refresher.freshURL(insteadOf: question) }
        } catch {
            try Task.checkCancellation()
            var failure = expired.error
            failure.detail = (failure.detail.map { "\($0); " } ?? "") + "no fresh URL: \(error.text)"
            throw failure
        }
    }

    /// Segments on the disk.
    var storedSegmentCount: Int {
        folder.journal.segments.values.reduce(0) { sum, lane in sum + lane.values.count { $0.file != nil } }
    }
}
