import HLSKitAsset
import HLSKitLoading
import HLSKitPlaylist
import HLSKitTime

struct ExpiredDownload: Error {
    var error: HLSError
    var status: Int
    var gaps: [DownloadGap] = []
    /// The window, or `nil` if the URL expired before a playlist was loaded.
    var window: TimeWindow?
    var resumedSegmentCount = 0
}

/// Handling of URLs that expire during a download. The app provides a fresh URL, and the download continues with the
/// missing segments, as in a new run.
extension DownloadTask {
    /// Whether a failure means that the URL has expired and the app can provide another one.
    func isExpired(_ error: HLSError) -> Bool {
        configuration.loading.hooks.urlRefresher != nil && (error.statusCode == 403 || error.statusCode == 410)
    }

    func expired(_ error: HLSError, _ run: DownloadRun?) -> ExpiredDownload? {
        guard isExpired(error), let status = error.statusCode else { return nil }
        guard let run else { return ExpiredDownload(error: error, status: status) }
        return ExpiredDownload(
            error: error, status: status, gaps: run.beganLive ? run.result.gaps : [], window: run.window,
            resumedSegmentCount: run.result.resumedSegmentCount)
    }

    /// - Throws: The original failure, with the reason why there is no other URL.
    func freshURL(insteadOf expired: ExpiredDownload) async throws -> String {
        guard let refresher = configuration.loading.hooks.urlRefresher else { throw expired.error }
        let url = expired.error.fullURL ?? currentURL
        let question = ExpiredURL(itemURL: currentURL, url: url, status: expired.status)
        do {
            return try await AppCall(clock: configuration.loading.clock).value(
                of: "the URL refresher", url: url, within: refresher.deadline
            ) { try await refresher.freshURL(insteadOf: question) }
        } catch {
            try Task.checkCancellation()
            var failure = expired.error
            failure.detail = (failure.detail.map { "\($0); " } ?? "") + "no fresh URL: \(error.text)"
            throw failure
        }
    }

    var storedSegmentCount: Int {
        folder.journal.segments.values.reduce(0) { sum, lane in sum + lane.values.count { $0.file != nil } }
    }
}
