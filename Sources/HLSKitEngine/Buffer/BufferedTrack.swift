extension ForwardBuffer {
    /// The pieces of one track. No piece contains another, so they are sorted by both start and end.
    struct BufferedTrack: Sendable {
        private(set) var pieces: [ForwardBuffer.Piece] = []
        private(set) var byteCount = 0
        var isAtEnd = false
        /// Whether the track has enough media and waits until loading is worthwhile again.
        private(set) var isIdle = false

        mutating func insert(_ piece: ForwardBuffer.Piece, mergingBelow pieceDuration: Duration) {
            byteCount += piece.byteCount
            var piece = piece
            var index = pieces.endIndex
            while index > 0, pieces[index - 1].range.lowerBound > piece.range.lowerBound { index -= 1 }
            if index > 0 {
                let last = pieces[index - 1]
                let length = last.range.upperBound - last.range.lowerBound
                let grows =
                    last.isGap == piece.isGap && last.range.upperBound >= piece.range.lowerBound
                    && length < pieceDuration
                if grows || last.range.upperBound >= piece.range.upperBound {
                    let end = max(last.range.upperBound, piece.range.upperBound)
                    piece = ForwardBuffer.Piece(
                        range: last.range.lowerBound..<end, byteCount: last.byteCount + piece.byteCount,
                        isGap: last.isGap && piece.isGap)
                    index -= 1
                    pieces.remove(at: index)
                }
            }
            while index < pieces.endIndex, pieces[index].range.upperBound <= piece.range.upperBound {
                piece.byteCount += pieces[index].byteCount
                piece.isGap = piece.isGap && pieces[index].isGap
                pieces.remove(at: index)
            }
            pieces.insert(piece, at: index)
        }

        mutating func remove(from time: Duration) {
            isAtEnd = false
            isIdle = false
            pieces = pieces.compactMap { piece in
                guard piece.range.upperBound > time else { return piece }
                guard piece.range.lowerBound < time else { return nil }
                var piece = piece
                let share = (time - piece.range.lowerBound) / (piece.range.upperBound - piece.range.lowerBound)
                piece.byteCount = Int((Double(piece.byteCount) * share).rounded())
                piece.range = piece.range.lowerBound..<time
                return piece
            }
            byteCount = pieces.reduce(0) { $0 + $1.byteCount }
        }

        mutating func remove(before time: Duration) {
            pieces.removeAll { $0.range.upperBound <= time }
            if let first = pieces.first, first.range.lowerBound < time {
                let share = (first.range.upperBound - time) / (first.range.upperBound - first.range.lowerBound)
                pieces[0].byteCount = Int((Double(first.byteCount) * share).rounded())
                pieces[0].range = time..<first.range.upperBound
            }
            byteCount = pieces.reduce(0) { $0 + $1.byteCount }
        }

        mutating func updateIdle(isEnough: Bool, isWorthLoading: Bool) {
            if isEnough {
                isIdle = true
            } else if isWorthLoading {
                isIdle = false
            }
        }

        func farthestBehind(_ situation: ForwardBuffer.Situation) -> ForwardBuffer.Piece? {
            let piece = situation.isReverse ? pieces.last : pieces.first
            return piece.flatMap { $0.distanceBehind(situation) >= .zero ? $0 : nil }
        }

        mutating func removeFarthestBehind(_ situation: ForwardBuffer.Situation) {
            guard let piece = situation.isReverse ? pieces.popLast() : pieces.first else { return }
            if !situation.isReverse { pieces.removeFirst() }
            byteCount -= piece.byteCount
        }

        func byteCountBehind(_ situation: ForwardBuffer.Situation) -> Int {
            byteCount - byteCountAhead(situation)
        }

        func byteCountAhead(_ situation: ForwardBuffer.Situation) -> Int {
            let range =
                situation.isReverse ? 0..<endBefore(situation.playhead) : startAfter(situation.playhead)..<pieces.count
            var count = 0
            for index in range { count += pieces[index].byteCount }
            return count
        }

        private func startAfter(_ time: Duration) -> Int {
            var index = pieces.count
            while index > 0, pieces[index - 1].range.upperBound > time { index -= 1 }
            return index
        }

        private func endBefore(_ time: Duration) -> Int {
            var index = 0
            while index < pieces.count, pieces[index].range.lowerBound < time { index += 1 }
            return index
        }

        func forwardDuration(_ situation: ForwardBuffer.Situation, maxGapJump: Duration) -> Duration {
            situation.isReverse
                ? backwardReach(situation, maxGapJump: maxGapJump) : forwardReach(situation, maxGapJump: maxGapJump)
        }

        private func forwardReach(_ situation: ForwardBuffer.Situation, maxGapJump: Duration) -> Duration {
            var end = situation.playhead
            var isBroken = false
            for index in startAfter(end)..<pieces.count {
                guard pieces[index].range.lowerBound - end <= maxGapJump else {
                    isBroken = true
                    break
                }
                end = pieces[index].range.upperBound
            }
            if let effectiveEnd = situation.effectiveEnd {
                if isAtEnd, !isBroken { end = max(end, effectiveEnd) }
                end = min(end, max(effectiveEnd, situation.playhead))
            } else if isAtEnd, !isBroken, let listed = situation.lastAvailable {
                // A rendition may end while its variant is live.
                end = max(end, listed)
            }
            return end - situation.playhead
        }

        /// Returns the duration that can be played in reverse.
        ///
        /// If the first piece begins within one jump of the end of reverse playback, no media is missing before it.
        private func backwardReach(_ situation: ForwardBuffer.Situation, maxGapJump: Duration) -> Duration {
            var start = situation.playhead
            for index in (0..<endBefore(start)).reversed() {
                guard start - pieces[index].range.upperBound <= maxGapJump else { break }
                start = pieces[index].range.lowerBound
            }
            if let effectiveEnd = situation.effectiveEnd {
                if start - effectiveEnd <= maxGapJump { start = min(start, effectiveEnd) }
                start = max(start, min(effectiveEnd, situation.playhead))
            }
            return situation.playhead - start
        }

        func loadedRanges(maxGapJump: Duration) -> [Range<Duration>] {
            var ranges: [Range<Duration>] = []
            for piece in pieces where !piece.isGap {
                if let last = ranges.last, piece.range.lowerBound - last.upperBound <= maxGapJump {
                    ranges[ranges.count - 1] = last.lowerBound..<max(last.upperBound, piece.range.upperBound)
                } else {
                    ranges.append(piece.range)
                }
            }
            return ranges
        }
    }
}

extension ForwardBuffer.Piece {
    /// The distance from the playhead back to the piece, negative if the piece reaches past the playhead.
    func distanceBehind(_ situation: ForwardBuffer.Situation) -> Duration {
        situation.isReverse ? range.lowerBound - situation.playhead : situation.playhead - range.upperBound
    }
}
