#if Redis
/// What the server does in one step each; all keys are in `KEYS`, so that a cluster can tell where they are.
///
/// Numbers are doubles in Lua, whole up to 2^53; if one goes out it is formatted, as it would be rounded otherwise.
/// The server's microseconds since 1970 pass 2^53 in the year 2255.
enum Scripts {
    /// Whether the server can be written to.
    static let probe = Script("return redis.call('SET', KEYS[1], '1', 'PX', 1000)")

    /// Of the gates that exist the one that lives longest: its index, its rest, whether it has no end, its payload.
    static let closedGate = Script(
        """
        local best, most, endless = 0, -1, false
        for index, key in ipairs(KEYS) do
          local rest = redis.call('PTTL', key)
          if rest > 0 or rest == -1 then
            local never = rest == -1 or redis.call('HGET', key, 'n') == '1'
            if (never and not endless) or (never == endless and rest > most) then
              best, most, endless = index, rest, never
            end
          end
        end
        if best == 0 then return false end
        return {best, most, endless and 1 or 0, redis.call('HGET', KEYS[best], 'p') or ''}
        """
    )

    /// Closes a gate for ARGV[1] ms, never shorter than it is closed already.
    ///
    /// ARGV[2]: whether it has no end, ARGV[3]: its payload.
    static let close = Script(
        """
        local rest, span = redis.call('PTTL', KEYS[1]), tonumber(ARGV[1])
        if rest ~= -2 then
          local never = rest == -1 or redis.call('HGET', KEYS[1], 'n') == '1'
          if ARGV[2] == '1' then
            if rest > span then span = rest end
            if never then
              redis.call('PEXPIRE', KEYS[1], string.format('%.0f', span))
              return 0
            end
          elseif never or rest >= span then
            return 0
          end
        end
        redis.call('DEL', KEYS[1])
        redis.call('HSET', KEYS[1], 'p', ARGV[3], 'n', ARGV[2])
        redis.call('PEXPIRE', KEYS[1], string.format('%.0f', span))
        return 1
        """
    )

    /// Counts one more at a gate that is closed.
    static let joinQueue = Script(
        """
        if redis.call('EXISTS', KEYS[1]) == 0 then return 0 end
        return redis.call('HINCRBY', KEYS[1], 'q', 1) - 1
        """
    )

    /// Grants the lease KEYS[1] for ARGV[1] ms to the owner ARGV[2]; KEYS[2] remembers the fence for ARGV[3] ms.
    ///
    /// A fence begins with the time, so it grows even if what was remembered is lost.
    static let acquireLease = Script(
        """
        if redis.call('EXISTS', KEYS[1]) == 1 then return false end
        local time = redis.call('TIME')
        local fence, last = time[1] * 1000000 + time[2], tonumber(redis.call('GET', KEYS[2])) or 0
        if last >= fence then fence = last + 1 end
        local text = string.format('%.0f', fence)
        redis.call('SET', KEYS[2], text, 'PX', ARGV[3])
        redis.call('HSET', KEYS[1], 'f', text, 'o', ARGV[2])
        redis.call('PEXPIRE', KEYS[1], ARGV[1])
        return text
        """
    )

    /// Lets the lease live for ARGV[2] ms more, if its fence is ARGV[1].
    static let extendLease = Script(
        """
        if redis.call('HGET', KEYS[1], 'f') ~= ARGV[1] then return 0 end
        return redis.call('PEXPIRE', KEYS[1], ARGV[2])
        """
    )

    /// Ends the lease, if its fence is ARGV[1].
    static let releaseLease = Script(
        """
        if redis.call('HGET', KEYS[1], 'f') ~= ARGV[1] then return 0 end
        return redis.call('DEL', KEYS[1])
        """
    )

    /// Ends the lease, if its owner is ARGV[1]: one that was granted to a caller who never heard of it.
    static let disownLease = Script(
        """
        if redis.call('HGET', KEYS[1], 'o') ~= ARGV[1] then return 0 end
        return redis.call('DEL', KEYS[1])
        """
    )

    /// `SharedState.BudgetEntry.applied`, with deposit, withdrawal, limit, initial and lifetime in ms.
    static let settle = Script(
        """
        local before = tonumber(redis.call('GET', KEYS[1])) or tonumber(ARGV[4])
        local filled = math.min(before + tonumber(ARGV[1]), math.max(before, tonumber(ARGV[3])))
        local granted = filled >= tonumber(ARGV[2])
        if granted then filled = filled - tonumber(ARGV[2]) end
        local text = string.format('%.0f', filled)
        redis.call('SET', KEYS[1], text, 'PX', ARGV[5])
        return {granted and 1 or 0, text}
        """
    )

    /// Replaces a record by ARGV[2], if its version is ARGV[1] (empty: if there is none), for ARGV[3] ms (empty: for good).
    ///
    /// A version begins with the time, so it grows even if the record is lost.
    static let replaceRecord = Script(
        """
        local version = redis.call('HGET', KEYS[1], 'v') or ''
        if version ~= ARGV[1] then return false end
        local time = redis.call('TIME')
        local new, last = time[1] * 1000000 + time[2], tonumber(version) or 0
        if last >= new then new = last + 1 end
        local text = string.format('%.0f', new)
        redis.call('HSET', KEYS[1], 'v', text, 'b', ARGV[2])
        if ARGV[3] == '' then redis.call('PERSIST', KEYS[1]) else redis.call('PEXPIRE', KEYS[1], ARGV[3]) end
        return text
        """
    )
}
#endif
