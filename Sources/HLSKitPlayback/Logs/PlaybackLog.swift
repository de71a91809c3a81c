import HLSKitEngine
import HLSKitLoading
import HLSKitMedia
import HLSKitPlaylist
import HLSKitSelection
import HLSKitTime

#if Logging || Observability || All
    import Logging

    typealias PlayerLogger = Logger

    /// Writes the player's events and decisions to the app's logger.
    ///
    /// ``PlayerConfiguration/logger`` documents the levels.
    ///
    /// Messages are constant, and values are metadata. URLs are written without user information, query and fragment,
    /// because those can contain secrets.
    struct PlaybackLog: Sendable {
        private let logger: Logger?

        init(_ logger: PlayerLogger?, url: String? = nil, session: String? = nil) {
            guard var logger else {
                self.logger = nil
                return
            }
            logger[metadataKey: "hls.item"] = url.map { .string(Redaction.urlWithoutQuery($0)) }
            logger[metadataKey: "hls.session"] = session.map { .string($0) }
            self.logger = logger
        }

        static func detail(for logger: PlayerLogger?) -> DecisionDetail {
            guard let logger, logger.logLevel <= .debug else { return .nothing }
            return logger.logLevel <= .trace ? .everything : .choices
        }

        // MARK: Decisions

        func note(_ decision: Decision) {
            guard let logger else { return }
            switch decision {
            case .keepUp(let input, let isLikely):
                logger.trace("judged whether playback keeps up", metadata: input.metadata(isLikely: isLikely))
            case .eligibility(let eligibility):
                logger.debug(
                    "determined the eligible variants",
                    metadata: [
                        "eligible": .list(eligibility.eligible.map(\.index)),
                        "excluded": .dictionary(
                            Dictionary(
                                uniqueKeysWithValues: eligibility.exclusions.map { ("\($0.key)", "\($0.value)") })),
                    ])
            case .firstVariant(let index, let explanation):
                logger.debug(
                    "chose the first variant", metadata: ["hls.variant": "\(index)", "explanation": "\(explanation)"])
            case .variant(let input, let decision):
                let isJudgement = input.download != nil
                let level = isJudgement ? Logger.Level.trace : .debug
                guard logger.logLevel <= level else { return }
                logger.log(
                    level: level,
                    isJudgement ? "checked whether to continue a download" : "chose a variant for a segment",
                    metadata: input.metadata(of: decision))
            case .ownConnections(let url):
                logger.debug(
                    "requests partial segments over separate connections",
                    metadata: ["url": "\(Redaction.urlWithoutQuery(url))"])
            case .failure(let error): logger.error("the item failed", metadata: error.metadata)
            }
        }

        /// Logs that a decoder has refused a sample for a new reason.
        func noteDamage(_ cause: String) {
            logger?.info("media is damaged", metadata: ["cause": "\(cause)"])
        }

        // MARK: Events

        func note(_ kind: PlayerEvent.Kind) {
            guard let logger else { return }
            switch kind {
            case .timeControl(let change):
                logger.debug(
                    "time control changed",
                    metadata: [
                        "from": "\(change.old)", "to": "\(change.new)",
                        "reason": "\(change.reason?.rawValue ?? "none")",
                        "rate": "\(change.rate)", "item-time": "\(change.itemTime.seconds)",
                    ])
            case .variantSwitched(let old, let new, let explanation):
                logger.debug(
                    "the variant changed",
                    metadata: [
                        "from": "\(old.map { "\($0.index)" } ?? "none")", "hls.variant": "\(new.index)",
                        "bits-per-second": "\(new.declaredBitRate)", "explanation": "\(explanation)",
                    ])
            case .pathwayChanged(let old, let new, let reason):
                logger.debug(
                    "the pathway changed", metadata: ["from": "\(old)", "to": "\(new)", "reason": "\(reason.rawValue)"])
            case .segmentLoaded(let load):
                logger.trace("loaded a segment", metadata: load.metadata)
            case .downloadAbandoned(let load):
                logger.debug("abandoned a download", metadata: load.metadata)
            case .playlistLoaded(let load):
                logger.trace(
                    "loaded a playlist",
                    metadata: ["url": "\(Redaction.urlWithoutQuery(load.urlString))", "bytes": "\(load.byteCount)"])
            case .playbackStalled(let time):
                logger.info("playback stalled", metadata: ["item-time": "\(time.seconds)"])
            case .trickPlayUnavailable(let obstacle, let rate):
                logger.info("no I-frames to play", metadata: ["rate": "\(rate)", "cause": "\(obstacle)"])
            case .missingMediaSkipped(let gap):
                logger.info(
                    "missing media was skipped",
                    metadata: ["item-time": "\(gap.start.seconds)", "seconds": "\(gap.duration.seconds)"])
            case .mediaUnread(let type, let count):
                logger.info(
                    "readers are too slow", metadata: ["media": "\(type.rawValue)", "lost": "\(count)"])
            case .linkTooSlow(let rate, let needed):
                logger.info(
                    "the link is too slow", metadata: ["bits-per-second": "\(Int(rate))", "needed": "\(Int(needed))"])
            case .dateRange(let phase, let group):
                logger.debug("a date range was \(phase)", metadata: ["id": "\(group.id)"])
            case .spliceMarker(let marker, _):
                logger.debug("a marker was passed", metadata: ["tag": "\(marker.tag)", "kind": "\(marker.kind)"])
            case .timedMetadata(let group):
                logger.debug("metadata was passed", metadata: ["keys": .array(group.items.map { "\($0.key)" })])
            case .contentSkipped(let content):
                logger.debug(
                    "content was skipped",
                    metadata: [
                        "item-time": "\(content.timeRange.start.seconds)",
                        "seconds": "\(content.timeRange.duration.seconds)",
                    ])
            case .segmentSkipped(let skipped):
                logger.warning("media is lost", metadata: skipped.metadata)
            case .segmentsMissed(let skipped):
                logger.warning("media was missed", metadata: skipped.metadata)
            case .lowLatencyDeclined(let url, let cause):
                logger.info(
                    "no low latency", metadata: ["url": "\(Redaction.urlWithoutQuery(url))", "cause": "\(cause)"])
            case .recoverableError(let error):
                logger.info("recovered from a failure", metadata: error.metadata)
            case .warning(let text):
                logger.info("warning", metadata: ["cause": "\(text)"])
            default: break
            }
        }
    }

    // MARK: - Metadata

    extension Logger.MetadataValue {
        fileprivate static func list(_ values: [Int]) -> Logger.MetadataValue { .array(values.map { "\($0)" }) }
    }

    extension KeepUpInput {
        fileprivate func metadata(isLikely: Bool) -> Logger.Metadata {
            [
                "likely": "\(isLikely)", "forward-seconds": "\(forwardDuration.seconds)", "is-empty": "\(isEmpty)",
                "holds-all": "\(holdsAllRemaining)", "rate": "\(rate)",
                "remaining-seconds": "\(remaining.map { "\($0.seconds)" } ?? "live")",
                "safe-bits-per-second": "\(safeThroughput.map { "\($0)" } ?? "unknown")",
                "bits-per-second": "\(bitRate.map { "\($0)" } ?? "unknown")",
                "is-after-stall": "\(isAfterStall)", "is-selection-automatic": "\(isSelectionAutomatic)",
            ]
        }
    }

    extension SelectionInput {
        /// Returns the playlist position of a variant, or its name if it is no longer a candidate.
        private func number(of id: AssetVariant.ID?) -> String {
            guard let id else { return "none" }
            return candidates.playlistIndex(of: id).map { "\($0)" } ?? id.rawValue
        }

        fileprivate func metadata(of decision: SelectionDecision) -> Logger.Metadata {
            var metadata: Logger.Metadata = [
                "hls.variant": "\(number(of: decision.variantID))", "explanation": "\(decision.explanation)",
                "current": "\(number(of: currentVariantID))",
                "candidates": .list(candidates.map(\.index)), "forward-seconds": "\(forwardBuffer.seconds)",
                "estimated-bits-per-second": "\(throughput.map { "\($0.bitsPerSecond)" } ?? "unknown")",
                "rate": "\(rate)", "is-playing": "\(isPlaying)",
            ]
            if let segmentNumber { metadata["segment"] = "\(segmentNumber)" }
            if let download {
                metadata["received-bytes"] = "\(download.receivedByteCount)"
                metadata["expected-bytes"] = "\(download.expectedByteCount)"
            }
            return metadata
        }
    }

    extension SegmentLoad {
        fileprivate var metadata: Logger.Metadata {
            [
                "url": "\(Redaction.urlWithoutQuery(urlString))", "hls.sequence": "\(mediaSequence)",
                "bytes": "\(byteCount)",
                "hls.variant": "\(variantIndex.map { "\($0)" } ?? "none")", "seconds": "\(duration.seconds)",
            ]
        }
    }

    extension SkippedSegments {
        fileprivate var metadata: Logger.Metadata {
            [
                "first": "\(first)", "last": "\(last)", "seconds": "\(mediaDuration.seconds)",
                "url": "\(Redaction.urlWithoutQuery(urlString))", "cause": "\(cause)",
            ]
        }
    }

    extension HLSError {
        fileprivate var metadata: Logger.Metadata {
            var metadata: Logger.Metadata = ["code": "\(code.rawValue)", "cause": "\(cause)"]
            if let url = urlString { metadata["url"] = "\(Redaction.urlWithoutQuery(url))" }
            if let detail { metadata["detail"] = "\(detail)" }
            return metadata
        }
    }

#else

    /// The logger type without the package trait `Logging`. It has no values.
    enum PlayerLogger: Sendable {}

    /// Writes nothing, because there is no logger.
    struct PlaybackLog: Sendable {
        init(_ logger: PlayerLogger?, url: String? = nil, session: String? = nil) {}

        static func detail(for logger: PlayerLogger?) -> DecisionDetail { .nothing }

        func note(_ decision: Decision) {}
        func note(_ kind: PlayerEvent.Kind) {}
        func noteDamage(_ cause: String) {}
    }

#endif
